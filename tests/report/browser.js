// Checks of a page as it is laid out, for browser.t; their findings replace the page: one line each, then "checked".
'use strict';
const findings = [];
const say = (text) => findings.push(text.replace(/\s+/g, ' ').slice(0, 160));
window.onerror = (text) => say('error: ' + text);

// Red, green, blue, opacity of a computed colour.
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgba = (colour) => {
	canvas.clearRect(0, 0, 1, 1);
	canvas.fillStyle = colour;
	canvas.fillRect(0, 0, 1, 1);
	return [...canvas.getImageData(0, 0, 1, 1).data].map((x) => x / 255);
};
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const luminance = (c) => {
	const [r, g, b] = c.map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
};
const behind = (element) => {
	const layers = [];
	for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
	return layers.reverse().reduce((below, top) => over(top, below), rgba('Canvas'));
};
const within = (inner, outer, room) => inner.left >= outer.left - room && inner.right <= outer.right + room &&
	inner.top >= outer.top - room && inner.bottom <= outer.bottom + room;

// Texts of a figure: inside it, apart from each other, and against what lies behind them.
const figure = (svg) => {
	const name = svg.closest('figure').id, edge = svg.getBoundingClientRect();
	if (edge.width === 0) return;
	const shapes = [...svg.querySelectorAll('rect, path, polygon, text')].map((shape) => ({
		shape, box: shape.getBoundingClientRect(), style: getComputedStyle(shape) }));
	const texts = [];
	let areas = [];
	for (const { shape, box, style } of shapes) {
		const fill = style.fill === 'none' ? [0, 0, 0, 0] : rgba(style.fill);
		if (shape.tagName !== 'text') {
			fill[3] *= style.fillOpacity * style.opacity;
			if (fill[3] > 0.1 && box.width > 12 && box.height > 8) areas.push({ box, fill });
			continue;
		}
		const text = shape.textContent.trim();
		if (text === '') continue;
		if (!within(box, edge, 2)) say(name + ': "' + text + '" is cut off');
		const middle = { left: box.left + box.width / 2, right: box.left + box.width / 2, top: box.top + box.height / 2, bottom: box.top + box.height / 2 };
		const ground = areas.filter((area) => within(middle, area.box, 0)).reduce((below, area) => over(area.fill, below), behind(svg));
		if (contrast(over(fill, ground), ground) < 4.5) say(name + ': "' + text + '" has a contrast of ' + contrast(fill, ground).toFixed(1));
		for (const other of texts) {
			const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
			const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
			if (wide > 2 && high > 0.5 * Math.min(box.height, other.box.height))
				say(name + ': "' + text + '" and "' + other.text + '" overlap');
		}
		texts.push({ text, box });
	}
};
const page = (state) => {
	if (document.documentElement.scrollWidth > innerWidth) say(state + ': wider than the window, ' + document.documentElement.scrollWidth);
	const seen = new Set();
	for (const element of document.querySelectorAll('body *:not(svg *)')) {
		if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || element.getClientRects().length === 0) continue;
		const ratio = contrast(over(rgba(getComputedStyle(element).color), behind(element)), behind(element));
		const kind = element.tagName + ' ' + element.className + ' ' + ratio.toFixed(1);
		if (ratio < 4.5 && !seen.has(kind)) say(state + ': contrast of ' + kind + ': ' + element.textContent);
		seen.add(kind);
	}
	for (const svg of document.querySelectorAll('figure svg')) figure(svg);
};
addEventListener('load', () => {
	if (document.querySelector('[tabindex]:not([tabindex="0"])')) say('a tab order of its own');
	page('as it opens');
	for (const box of document.querySelectorAll('details')) box.open = true;
	setTimeout(() => {
		page('unfolded');
		const point = /^copy, L2 cold: about 1 GiB, 42[0-9]{2}$/; // GB/s, folded: told by the script
		const told = [...document.querySelectorAll('#figure-copy use > title')].map((title) => title.textContent);
		if (document.querySelector('#figure-copy') && !told.some((text) => point.test(text))) say('no value at the points of copy: ' + told.slice(0, 3));
		for (const svg of document.querySelectorAll('figure svg'))
			if (svg.querySelector('use[transform]') && ![...svg.querySelectorAll('title')].some((title) => /[0-9]/.test(title.textContent))) say(svg.closest('figure').id + ': no values at its points');
		const box = document.querySelector('.parameters');
		if (box) {
			const input = box.querySelector('input'), rows = () => box.querySelectorAll('tbody tr').length;
			if (rows() < 300) say('the parameters have only ' + rows() + ' rows');
			input.value = 'gpu.launch.dependent';
			input.oninput();
			if (rows() !== 1 || !/^gpu.launch.dependent1.7\d+ us/.test(box.querySelector('tbody').textContent)) say('the search finds ' + box.querySelector('tbody').textContent);
			input.value = 'gpu.launch.grid';
			input.oninput();
			box.querySelectorAll('th button')[1].click();
			const values = [...box.querySelectorAll('tbody tr')].map((row) => parseFloat(row.cells[1].textContent));
			input.value = 'gpu.read.time';
			input.oninput();
			const seconds = [...box.querySelectorAll('tbody tr')].map((row) => parseFloat(row.cells[1].textContent) * { ns: 1, us: 1e3, ms: 1e6 }[row.cells[1].textContent.slice(-2)]);
			if (seconds.length < 5 || seconds.some((value, i) => i > 0 && value < seconds[i - 1])) say('sorted: ' + seconds);
			if (values.length < 5 || values.some((value, i) => i > 0 && value < values[i - 1])) say('sorted: ' + values);
		}
		const out = document.createElement('pre');
		out.textContent = [...new Set(findings), 'checked'].join('\n');
		document.body.replaceChildren(out);
	}, 300);
});
