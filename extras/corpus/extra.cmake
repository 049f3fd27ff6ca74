# What is in a parallel text, and cleaning it: dragoman corpus.
dragoman_extra(report)  # the style of its page
dragoman_room(extras/corpus ROOMS extras/report data data/alignment tokenizer base)
dragoman_embed(extras/corpus extras/corpus/page extras/corpus/survey_report.h corpus_page_file)
dragoman_room(extras/corpus/commands ROOMS extras/corpus extras/report extras/report/commands app/commands app/frame evaluation data base)
