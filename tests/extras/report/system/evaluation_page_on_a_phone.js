// On a narrow screen the filters are folded into one line until they are opened.
expect('filters are folded', one('#filters').open, false);
expect('a field of theirs', one('#order').checkVisibility(), false);
one('#filters-summary').click();
expect('and unfolded', one('#order').checkVisibility(), true);
choose('#order', 'long');
expect('what is chosen is counted', textsOfAll('#filters-summary'), [
  'Filters and order (1 chosen)',
]);
const scores = getComputedStyle(one('#scores').parentElement);
expect('a table that scrolls has shades at its edges', scores.backgroundAttachment, 'local, local, scroll, scroll, scroll');
finish();
