# Pages: dragoman plot, dragoman evaluate --html.
dragoman_extra(explanation)  # to which the pages lead
dragoman_room(extras/report ROOMS base)
dragoman_embed(extras/report extras/report/page extras/report/html_page.h page_file)
dragoman_room(extras/report/commands
  ROOMS extras/report extras/explanation app/commands app/frame evaluation inference inference/search model/file tokenizer base)
