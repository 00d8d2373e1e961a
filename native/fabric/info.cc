// What libfabric offers here, as plain objects. Each carries a handle with which an endpoint can be opened.
#include <arpa/inet.h>
#include <netinet/in.h>

#include "../addon.h"
#include "../binding.h"
#include "../signal-guard.h"
#include "library.h"

namespace weft {

namespace {

std::string addressText(const fi_info& info) {
  char text[INET6_ADDRSTRLEN] = {0};
  if (!info.src_addr) return "";
  if (info.addr_format == FI_SOCKADDR_IN && info.src_addrlen >= sizeof(sockaddr_in)) {
    inet_ntop(AF_INET, &static_cast<sockaddr_in*>(info.src_addr)->sin_addr, text, sizeof(text));
  } else if (info.addr_format == FI_SOCKADDR_IN6 && info.src_addrlen >= sizeof(sockaddr_in6)) {
    inet_ntop(AF_INET6, &static_cast<sockaddr_in6*>(info.src_addr)->sin6_addr, text, sizeof(text));
  } else if (info.addr_format == FI_ADDR_STR) {
    return static_cast<const char*>(info.src_addr);
  }
  return text;
}

Napi::Value nicObject(Napi::Env env, const fid_nic* nic) {
  if (!nic) return env.Undefined();
  auto object = Napi::Object::New(env);
  if (nic->device_attr) {
    object.Set("name", text(nic->device_attr->name));
    object.Set("driver", text(nic->device_attr->driver));
    object.Set("deviceId", text(nic->device_attr->device_id));
    object.Set("firmware", text(nic->device_attr->firmware));
  }
  if (nic->link_attr) {
    object.Set("bitsPerSecond", static_cast<double>(nic->link_attr->speed));
    object.Set("mtu", static_cast<double>(nic->link_attr->mtu));
    object.Set("up", nic->link_attr->state != FI_LINK_DOWN);
  }
  if (nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI) {
    const fi_pci_attr& pci = nic->bus_attr->attr.pci;
    char address[32];
    snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id, pci.function_id);
    object.Set("pci", std::string(address));
  }
  return object;
}

Napi::Object infoObject(Napi::Env env, const fi_info* info) {
  auto object = Napi::Object::New(env);
  auto number = [](auto value) { return static_cast<double>(value); };
  object.Set("provider", text(info->fabric_attr->prov_name));
  object.Set("fabric", text(info->fabric_attr->name));
  object.Set("domain", text(info->domain_attr->name));
  object.Set("address", addressText(*info));
  object.Set("caps", Napi::BigInt::New(env, info->caps));
  object.Set("reads", offersReads(*info));
  object.Set("mode", Napi::BigInt::New(env, info->mode));
  object.Set("mrMode", info->domain_attr->mr_mode);
  object.Set("cqDataSize", number(info->domain_attr->cq_data_size));
  object.Set("mrKeySize", number(info->domain_attr->mr_key_size));
  object.Set("autoProgress", info->domain_attr->data_progress == FI_PROGRESS_AUTO);
  object.Set("maxMessageBytes", number(info->ep_attr->max_msg_size));
  object.Set("injectBytes", number(info->tx_attr->inject_size));
  object.Set("sendQueue", number(info->tx_attr->size));
  object.Set("receiveQueue", number(info->rx_attr->size));
  object.Set("protocol", info->ep_attr->protocol);
  object.Set("nic", nicObject(env, info->nic));
  fi_info* owned = Library::get().dupinfo(info);
  object.Set("handle", Napi::External<fi_info>::New(env, owned, [](Napi::Env, fi_info* data) {
               Library::get().freeinfo(data);
             }));
  return object;
}

std::string optional(const Napi::Object& query, const char* name) {
  auto value = query.Get(name);
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
}

fi_info* makeHints(const Napi::Object& query) {
  fi_info* hints = Library::get().dupinfo(nullptr);
  if (!hints) check(-FI_ENOMEM, "fi_allocinfo");
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_MSG | FI_RMA | (query.Get("directed").ToBoolean() ? FI_DIRECTED_RECV : 0) |
                (query.Get("deviceMemory").ToBoolean() ? FI_HMEM : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | (query.Get("receivesForData").ToBoolean() ? FI_RX_CQ_DATA : 0);
  hints->tx_attr->op_flags = query.Get("acknowledged").ToBoolean() ? 0 : FI_DELIVERY_COMPLETE;
  auto offered = query.Get("mrMode");
  hints->domain_attr->mr_mode = offered.IsNumber() ? offered.As<Napi::Number>().Int32Value() : 0;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->av_type = FI_AV_TABLE;
  if (query.Get("anything").ToBoolean()) {  // discovery for people: whatever there is
    hints->caps = 0;
    hints->tx_attr->op_flags = 0;
    hints->ep_attr->type = FI_EP_UNSPEC;
    hints->mode = query.Get("unsolicited").ToBoolean() ? ~FI_RX_CQ_DATA : ~0ull;
    hints->domain_attr->mr_mode = ~3;
    hints->domain_attr->threading = FI_THREAD_UNSPEC;
    hints->domain_attr->av_type = FI_AV_UNSPEC;
  }
  auto provider = optional(query, "provider"), fabric = optional(query, "fabric");
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
  if (!fabric.empty()) hints->fabric_attr->name = strdup(fabric.c_str());
  return hints;
}

// DMABUF came with 1.20, and is refused to who speaks an older interface. To who speaks one before 1.18, efa offers RDMA
// only on some devices. Everything else speaks the oldest we know.
uint32_t interfaceVersion(const Library& library, const Napi::Object& query) {
  constexpr uint32_t kKnown = FI_VERSION(1, 17), kNewer = FI_VERSION(1, 20);
  bool newer = query.Get("deviceMemory").ToBoolean() || optional(query, "provider") == "efa";
  return newer && FI_VERSION_GE(library.version, kNewer) ? kNewer : kKnown;
}

Napi::Value getInfo(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Library& library = Library::get();
    auto query = info[0].As<Napi::Object>();
    auto node = optional(query, "node");
    auto service = optional(query, "service");
    fi_info* hints = makeHints(query);
    fi_info* found = nullptr;
    int result;
    {
      SignalGuard guard;
      result = library.getinfo(interfaceVersion(library, query), node.empty() ? nullptr : node.c_str(),
                               service.empty() ? nullptr : service.c_str(), node.empty() ? 0 : FI_SOURCE, hints,
                               &found);
    }
    library.freeinfo(hints);
    auto list = Napi::Array::New(info.Env());
    if (result == -FI_ENODATA || result == -FI_ENOSYS) return list;
    check(result, "fi_getinfo");
    for (fi_info* item = found; item; item = item->next) list.Set(list.Length(), infoObject(info.Env(), item));
    library.freeinfo(found);
    return list;
  });
}

Napi::Value openLibrary(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Library& library = Library::open(info[0].As<Napi::String>().Utf8Value());
    auto object = Napi::Object::New(info.Env());
    object.Set("path", library.file);
    object.Set("major", FI_MAJOR(library.version));
    object.Set("minor", FI_MINOR(library.version));
    return object;
  });
}

}  // namespace

void defineInfo(Napi::Env env, Napi::Object exports) {
  exports.Set("openLibrary", Napi::Function::New<openLibrary>(env));
  exports.Set("getInfo", Napi::Function::New<getInfo>(env));
}

}  // namespace weft
