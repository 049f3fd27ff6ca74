/* translate_c MODEL [OPTION...]: translates each line of the standard input. */
#include <dragoman/dragoman.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* const open_options[] = {"threads=1", NULL};
  char line[4096];
  dragoman_translator* translator;
  if (argc < 2) {
    fputs("usage: translate_c MODEL [OPTION...]\n", stderr);
    return 2;
  }
  translator = dragoman_open(argv[1], open_options);
  if (translator == NULL) {
    fprintf(stderr, "translate_c: %s\n", dragoman_error());
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    const char* lines[] = {line};
    dragoman_translations* translations;
    line[strcspn(line, "\n")] = '\0';
    translations = dragoman_translate(translator, lines, 1, (const char* const*)argv + 2);
    if (translations == NULL) {
      fprintf(stderr, "translate_c: %s\n", dragoman_error());
      dragoman_close(translator);
      return 1;
    }
    puts(dragoman_text(translations, 0, 0));
    dragoman_free(translations);
  }
  dragoman_close(translator);
  return 0;
}
