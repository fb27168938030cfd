/* Network namespaces, which are hosts of their own as far as TCP is concerned. */
#ifndef HALO3D_HOST_H
#define HALO3D_HOST_H

#include <stdbool.h>

/* Moves this process into one of the namespaces of a list of names, separated by commas: rank after
 * rank the next one. NULL: it stays where it is. Before UCX is started. */
bool host_enter(const char *hosts, int rank);

#endif
