/* A plugin of an interface that is to come. */
__attribute__((visibility("default"))) int exactk_plugin_v2(void) {
  return 0;
}
