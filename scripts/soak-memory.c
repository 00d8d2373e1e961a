// What a soak asks malloc: mallocBytes() counts what is handed out and not freed, trim() returns free pages to the system.
#include <malloc.h>
#include <node_api.h>

static napi_value mallocBytes(napi_env env, napi_callback_info info) {
  (void)info;
  struct mallinfo2 all = mallinfo2();
  napi_value result;
  napi_create_double(env, (double)(all.uordblks + all.hblkhd), &result);
  return result;
}

static napi_value trim(napi_env env, napi_callback_info info) {
  (void)env;
  (void)info;
  malloc_trim(0);
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "mallocBytes", NAPI_AUTO_LENGTH, mallocBytes, NULL, &function);
  napi_set_named_property(env, exports, "mallocBytes", function);
  napi_create_function(env, "trim", NAPI_AUTO_LENGTH, trim, NULL, &function);
  napi_set_named_property(env, exports, "trim", function);
  return exports;
}
