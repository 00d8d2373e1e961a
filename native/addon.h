#pragma once
#include <napi.h>

namespace weft {

void defineInfo(Napi::Env env, Napi::Object exports);
void defineProcess(Napi::Env env, Napi::Object exports);
void defineProcessManager(Napi::Env env, Napi::Object exports);
void defineGpu(Napi::Env env, Napi::Object exports);
void definePort(Napi::Env env, Napi::Object exports);
void defineQueue(Napi::Env env, Napi::Object exports);
void defineIpc(Napi::Env env, Napi::Object exports);
void defineTransferBoard(Napi::Env env, Napi::Object exports);
void defineOwnKernel(Napi::Env env, Napi::Object exports);
void defineTokenKernel(Napi::Env env, Napi::Object exports);
void definePeer(Napi::Env env, Napi::Object exports);
void defineSequence(Napi::Env env, Napi::Object exports);
void defineNumbers(Napi::Env env, Napi::Object exports);
void defineBlockCopy(Napi::Env env, Napi::Object exports);

}  // namespace weft
