// Of scores that are all 0 the drawings are drawn, and no difference is found.
expect('charts', all('#charts figure').length, 6);
expect('no number is missing', /NaN|undefined/.test(one('main').innerHTML), false);
expect('p', textsOfAll('#pair td:last-child'), ['–', '–']);
expect('a translation of nothing', textsOfAll('#sentences dd i'), ['nothing']);
finish();
