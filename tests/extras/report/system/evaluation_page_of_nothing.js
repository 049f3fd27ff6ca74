// If all scores are 0, the page still has its drawings and shows no difference.
expect('facts', textsOfAll('#facts'), ['1 line, 2 systems, 1 reference']);
expect('charts', all('#charts figure').length, 6);
expect('no number is missing', /NaN|undefined/.test(one('main').innerHTML), false);
expect('p', textsOfAll('#pair td:last-child'), ['–', '–']);
expect('a translation of nothing', textsOfAll('#sentences dd i'), ['nothing']);
finish();
