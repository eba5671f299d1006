// Runs in a copy of a page of weft explain --html: measures its elements where the browser has put them, and
// sends what is wrong to the page around it.
window.addEventListener('load', () => {
    const wrong = [];
    const say = (text) => wrong.push(text);
    const box = (element) => element.getBoundingClientRect();
    const name = (element) => element.tagName + ' ' + element.textContent.trim().slice(0, 40);
    const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const holds = (a, b) => b.left >= a.left - 1 && b.right <= a.right + 1 && b.top >= a.top - 1 && b.bottom <= a.bottom + 1;
    const pairs = (elements, test, what) => {
        elements.forEach((a, i) => elements.slice(i + 1).forEach((b) => {
            if (test(box(a), box(b))) say(`${what}: ${name(a)} / ${name(b)}`);
        }));
    };
    let n = 0;
    // The document: nothing is wider than the window or than what is around it; blocks follow one another.
    if (document.documentElement.scrollWidth > window.innerWidth) say('the page is wider than the window');
    document.querySelectorAll('td,th,pre,.side,h1,h2,p').forEach((e) => {
        ++n;
        if (e.scrollWidth > e.clientWidth + 1) say(`cut: ${name(e)}`);
        if (box(e).right > window.innerWidth + 1) say(`beyond the window: ${name(e)}`);
    });
    pairs([...document.body.children].filter((e) => e.tagName !== 'SCRIPT'), meets, 'blocks overlap');
    document.querySelectorAll('tr').forEach((row) => pairs([...row.children], meets, 'cells overlap'));
    pairs([...document.querySelectorAll('.side')], meets, 'columns overlap');
    // Each drawing.
    document.querySelectorAll('svg').forEach((svg) => {
        const nodes = [...svg.querySelectorAll('rect.call, rect.list')], bands = [...svg.querySelectorAll('rect.kernel')];
        const titles = [...svg.querySelectorAll('text.name')];
        svg.querySelectorAll('rect, text, path').forEach((e) => {
            ++n;
            if (!holds(box(svg), box(e))) say(`outside of the drawing: ${name(e.parentNode)}`);
        });
        pairs(nodes, meets, 'boxes overlap');
        pairs(bands, meets, 'kernels overlap');
        nodes.forEach((rect) => {
            const texts = [...rect.parentNode.querySelectorAll('text')];
            if (texts.length === 0) say('a box without text');
            texts.forEach((text) => { if (!holds(box(rect), box(text))) say(`text leaves its box: ${name(text)}`); });
            pairs(texts, meets, 'lines overlap');
            titles.forEach((title) => { if (meets(box(title), box(rect))) say(`a title meets ${name(rect.parentNode)}`); });
            bands.forEach((band) => {
                if (meets(box(band), box(rect)) && !holds(box(band), box(rect))) say(`half in a kernel: ${name(rect.parentNode)}`);
            });
        });
        titles.forEach((title) => {
            if (!holds(box(title.parentNode.querySelector('rect')), box(title))) say(`title leaves its kernel: ${name(title)}`);
        });
        // Edges, point by point: none goes through a box or a title.
        svg.querySelectorAll('path.edge').forEach((path) => {
            const length = path.getTotalLength();
            for (let s = 0; s <= length; s += 2) {
                const p = path.getPointAtLength(s);
                const inside = (x, y, w, h) => p.x > x + 2 && p.x < x + w - 2 && p.y > y + 2 && p.y < y + h - 2;
                const rect = nodes.find((r) => inside(r.x.baseVal.value, r.y.baseVal.value, r.width.baseVal.value, r.height.baseVal.value));
                const title = titles.find((t) => { const b = t.getBBox(); return inside(b.x, b.y, b.width, b.height); });
                if (rect || title) {
                    say(`an edge (${name(path)}) goes through ${name(rect ? rect.parentNode : title)}`);
                    break;
                }
            }
        });
    });
    parent.postMessage({ n, wrong }, '*');
});
