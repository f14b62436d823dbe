// Checks of a page as it is laid out, for browser.t, which loads this into the page. check(), contents() and visited() return what they
// find as text, a line each; nothing is wrong where it is empty.
'use strict';
let findings = [];
const say = (text) => findings.push(text.replace(/\s+/g, ' ').slice(0, 160));
const told = () => {
	const text = [...new Set(findings)].join('\n');
	findings = [];
	return text;
};

// Red, green, blue, opacity of a computed colour.
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const sample = (colour) => {
	canvas.clearRect(0, 0, 1, 1);
	canvas.fillStyle = colour;
	canvas.fillRect(0, 0, 1, 1);
	return [...canvas.getImageData(0, 0, 1, 1).data].map((x) => x / 255);
};
const sampled = new Map();
const rgba = (colour) => {
	if (!sampled.has(colour)) sampled.set(colour, sample(colour));
	return [...sampled.get(colour)];
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
let grounds = new Map();
const behind = (element) => {
	if (!grounds.has(element))
		grounds.set(element, over(rgba(getComputedStyle(element).backgroundColor), element.parentElement ? behind(element.parentElement) : [1, 1, 1, 1]));
	return grounds.get(element);
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
	const areas = [];
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
const check = () => {
	grounds = new Map();
	if (document.documentElement.scrollWidth > innerWidth) say('wider than the window, ' + document.documentElement.scrollWidth);
	const seen = new Set();
	for (const element of document.querySelectorAll('body *:not(svg *)')) {
		if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || element.getClientRects().length === 0) continue;
		const ratio = contrast(over(rgba(getComputedStyle(element).color), behind(element)), behind(element));
		const kind = element.tagName + ' ' + element.className + ' ' + ratio.toFixed(1);
		if (ratio < 4.5 && !seen.has(kind)) say('contrast of ' + kind + ': ' + element.textContent);
		seen.add(kind);
	}
	for (const svg of document.querySelectorAll('figure svg')) figure(svg);
	return told();
};
const unfold = () => {
	for (const box of document.querySelectorAll('details')) box.open = true;
	return new Promise((done) => setTimeout(done, 50)); // report.js fills them
};

// ---- the keyboard: what Tab visits, from the page's begin to its end

let visits = [];
addEventListener('focusin', ({ target }) => {
	const style = getComputedStyle(target);
	visits.push({ target, outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 && contrast(over(rgba(style.outlineColor), behind(target)), behind(target)) });
});
const stops = () => [...document.querySelectorAll('a[href], button, input, summary, select, textarea')].filter((element) =>
	element.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true }));
const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflow) &&
	(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
// Focuses the page itself; how often to press Tab from there, at most: boxes that scroll are stops, too.
const begin_tabs = () => {
	grounds = new Map();
	document.body.tabIndex = -1;
	document.body.focus();
	document.body.removeAttribute('tabindex');
	visits = [];
	return stops().length + [...document.querySelectorAll('div, section, pre')].filter(scrolls).length;
};
const name_of = (element) => element.tagName + (element.className ? '.' + element.className : '') + ' "' + element.textContent.trim().slice(0, 40) + '"';
const visited = () => {
	const again = visits.findIndex(({ target }, i) => visits.findIndex((visit) => visit.target === target) < i);
	if (again >= 0) visits.length = again; // from the page's end Tab goes to its begin
	const wanted = stops(), got = visits.map((visit) => visit.target);
	const missed = wanted.filter((element) => !got.includes(element));
	if (missed.length) say(missed.length + ' of ' + wanted.length + ' are not reached: ' + name_of(missed[0]));
	visits.forEach(({ target, outline }, i) => {
		const box = target.getBoundingClientRect();
		if (!wanted.includes(target) && !scrolls(target)) say('stops at ' + name_of(target));
		if (box.width < 4 || box.height < 4) say('invisible: ' + name_of(target));
		if (!(outline >= 3)) say('no outline to be seen at ' + name_of(target) + ' ' + outline);
		if (i > 0 && !(got[i - 1].compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING)) say(name_of(target) + ' comes after ' + name_of(got[i - 1]));
	});
	return told();
};

// ---- units: a number of a table has its unit in its cell, in the row's column "unit", in the head of its column, in the row's name or
// in the caption. Counts and ratios have a word there that says so. An interval has the unit of the value before it.

const scale_of = /(^|[^A-Za-z])([num]?s|seconds|microseconds|[kMGT]?B(\/s)?|[GT]flop\/s|[GM]Hz|cycles?|bytes?)([^A-Za-z]|$)|%|2\^-|\[points\]/;
const ratio_of = /times (as good|slower)|over time of|speedup|slowdown|ratio|divided by|norm\(|per launch|flops a word|gain/i;
const count_of = /(^|[ ,])(m|n|k|p|nb|m n p k|width|samples|cases|points|even|SMs|blocks|parts|shapes|calls|processes|discarded|busy|tile|rows|count|GPUs|the n|ways|entries|section|capability|sockets|cores)([ ,]|$)/;
const units = () => {
	const bare = /^[-+]?[0-9][-+0-9.e \/|()]*$/, says_unit = (text) => scale_of.test(text) || ratio_of.test(text);
	for (const table of document.querySelectorAll('table')) {
		const rows = [...table.rows], heads = rows.length ? [...rows[0].cells].map((cell) => cell.textContent) : [];
		const caption = table.caption ? table.caption.textContent : '';
		heads.forEach((head, c) => {
			if (/interval$/.test(head) || says_unit(head) || count_of.test(head) || says_unit(caption) || count_of.test(caption.slice(0, 24))) return;
			const row = rows.slice(1).find(({ cells }) => cells[c] && bare.test(cells[c].textContent.trim()) && !/^[0-9]{4}-/.test(cells[c].textContent) &&
				!says_unit(cells[0].textContent + ' ' + cells[1].textContent) && !(heads.includes('unit') ? /[a-zA-Z%]/ : scale_of).test((cells[heads.indexOf('unit')] || cells[c]).textContent));
			if (row && !/facts-all$/.test(table.id)) say(table.id + ', ' + head + ': no unit of ' + row.cells[c].textContent + ' (' + row.cells[0].textContent + ')');
		});
	}
	// A decimal at the end of a phrase, in a sentence without a word for a ratio, a place or a version.
	for (const { textContent } of document.querySelectorAll('p, li, figcaption, .bar'))
		for (const { index, 0: text, input } of textContent.replace(/\([^()]* \.\. [^()]*\)/g, '').matchAll(/[ (][0-9]+\.[0-9]+(?=[;,)]|\.( |$)|$)/g))
			if (!/times|speedup|ratio|flops|[Ss]hare of|section|LAWN|driver|fathom|rows|=/.test(input.slice(Math.max(0, index - 180), index))) say('no unit of' + text + ' after "' + input.slice(Math.max(0, index - 60), index) + '"');
	return told();
};

// ---- what scripts of the page do

const contents = () => {
	const point = /^copy, L2 cold: about 1 GiB, 42[0-9]{2}$/; // GB/s, folded: told by the script
	const values = [...document.querySelectorAll('#figure-copy use > title')].map((title) => title.textContent);
	if (document.querySelector('#figure-copy') && !values.some((text) => point.test(text))) say('no value at the points of copy: ' + values.slice(0, 3));
	for (const svg of document.querySelectorAll('figure svg'))
		if (svg.querySelector('use[transform]') && ![...svg.querySelectorAll('title')].some((title) => /[0-9]/.test(title.textContent))) say(svg.closest('figure').id + ': no values at its points');
	const box = document.querySelector('.parameters');
	if (box) {
		const input = box.querySelector('input'), rows = () => [...box.querySelectorAll('tbody tr')];
		const find = (text) => {
			input.value = text;
			input.oninput();
		};
		const ascend = (list) => list.length >= 5 && list.every((value, i) => i === 0 || value >= list[i - 1]);
		if (rows().length < 300) say('the parameters have only ' + rows().length + ' rows');
		find('gpu.launch.dependent');
		if (rows().length !== 1 || !/^gpu.launch.dependent1\.[67]\d* us/.test(box.querySelector('tbody').textContent)) say('the search finds ' + box.querySelector('tbody').textContent);
		find('gpu.launch.grid');
		box.querySelectorAll('th button')[1].click();
		const numbers = rows().map((row) => parseFloat(row.cells[1].textContent));
		if (!ascend(numbers)) say('sorted: ' + numbers);
		find('gpu.read.time');
		const seconds = rows().map((row) => parseFloat(row.cells[1].textContent) * { ns: 1, us: 1e3, ms: 1e6 }[row.cells[1].textContent.slice(-2)]);
		if (!ascend(seconds)) say('sorted: ' + seconds);
		find('');
	}
	return told();
};
