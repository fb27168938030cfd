// What plugin_probe does, for a program that has it in a library.
#pragma once

__attribute__((visibility("default"))) int probe_plugin(int count, char **arguments);
