
// The attention of another validation: its weights become the darkness of the cells.
for (const part of document.querySelectorAll('.alignment')) {
  const { updates, weights } = JSON.parse(part.querySelector('script').textContent);
  const cells = part.querySelectorAll('rect[fill-opacity]');
  const [slider, output] = ['input', 'output'].map(tag => part.querySelector(tag));
  slider.parentElement.hidden = updates.length < 2;
  slider.ariaValueText = output.textContent;
  slider.addEventListener('input', () => {
    const chosen = Number(slider.value);
    output.textContent = updates[chosen].toLocaleString('en');
    slider.ariaValueText = output.textContent;
    cells.forEach((cell, i) => {
      const weight = weights[chosen][i] / 1000;
      cell.setAttribute('fill-opacity', Math.sqrt(weight));
      const title = cell.querySelector('title');
      title.textContent = title.textContent.replace(/[\d.]+$/, weight.toFixed(3));
    });
  });
}
