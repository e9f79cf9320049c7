// object: reading YAML (yaml.h).
#include "object/yaml.h"

#include <sstream>
#include <string>

#include <yaml-cpp/eventhandler.h>

namespace Atoll::object {

namespace {

/// Looks at what is in a text before anything is made of it.
class NoAliases final : public YAML::EventHandler {
 public:
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "an alias (*name) is not supported: write out what it stands for");
  }
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

support::Result<YAML::Node> read_yaml(std::string_view text) {
  try {  // the library's way to say that the text is no YAML
    const std::string whole(text);
    std::istringstream stream(whole);
    NoAliases handler;
    YAML::Parser(stream).HandleNextDocument(handler);
    return YAML::Load(whole);
  } catch (const YAML::Exception& error) {
    return support::fail(support::ErrorKind::invalid_file, "line {}: {}", error.mark.line + 1, error.msg);
  }
}

}  // namespace Atoll::object
