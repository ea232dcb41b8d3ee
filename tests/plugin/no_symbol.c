/* A library that is no plugin. */
int exactk_test_no_plugin(void) {
  return 0;
}
