#include "extras/markup/html_elements.h"

#include <algorithm>
#include <array>
#include <map>

namespace dragoman {

HtmlElement html_element(std::string_view name) {
  using enum HtmlElement;
  static const std::map<std::string_view, HtmlElement> all = [] {
    std::map<std::string_view, HtmlElement> elements;
    for (const char* single : {"img", "wbr", "area", "embed"}) elements[single] = Single;
    for (const char* kept : {"code", "kbd", "samp", "var", "tt"}) elements[kept] = Kept;
    for (const char* hidden : {"script", "style", "svg", "math", "object", "iframe", "canvas",
                               "audio", "video", "picture", "map", "noembed", "template"})
      elements[hidden] = Hidden;
    for (const char* block : {"pre", "textarea", "xmp", "listing", "plaintext", "noframes"})
      elements[block] = KeptBlock;
    for (const char* block :
         {"address",  "article", "aside",      "base",   "basefont", "blockquote", "body",
          "br",       "button",  "caption",    "center", "col",      "colgroup",   "datalist",
          "dd",       "details", "dialog",     "dir",    "div",      "dl",         "dt",
          "fieldset", "figure",  "figcaption", "footer", "form",     "frame",      "frameset",
          "h1",       "h2",      "h3",         "h4",     "h5",       "h6",         "head",
          "header",   "hgroup",  "hr",         "html",   "input",    "label",      "legend",
          "li",       "link",    "main",       "menu",   "meta",     "meter",      "nav",
          "noscript", "ol",      "optgroup",   "option", "output",   "p",          "param",
          "progress", "search",  "section",    "select", "source",   "summary",    "table",
          "tbody",    "td",      "tfoot",      "th",     "thead",    "title",      "tr",
          "track",    "ul"})
      elements[block] = Splits;
    return elements;
  }();
  const auto found = all.find(name);
  return found == all.end() ? Inline : found->second;
}

bool is_part_of_table(std::string_view name) {
  constexpr std::array<std::string_view, 9> kParts = {"caption", "col", "colgroup", "tbody", "td",
                                                      "tfoot",   "th",  "thead",    "tr"};
  return std::ranges::find(kParts, name) != kParts.end();
}

}  // namespace dragoman
