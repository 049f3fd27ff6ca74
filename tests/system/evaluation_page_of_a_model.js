// Of one model on 45 lines, of which the second is explained: see page_of_a_model() in pages.py.
const explained = all('#sentences .explained');
expect('each sentence leads to its explanation', explained.length, 20);
expect('by a link where the page is there', explained[1].getAttribute('href'), './a%20b.explanations/1-2.html');
const command = explained[2].querySelector('code').textContent;
expect('or else by the command', /^dragoman explain -m '[^']+' 'die Katze 3 sitzt' -o line-3.html$/.test(command), true);
expect('a quote in a text is quoted', shellQuoted("a'b"), "'a'\\''b'");
finish();
