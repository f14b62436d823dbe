// The table of all parameters: filled when it is opened first, then searched and sorted.
'use strict';
for (const box of document.querySelectorAll('.parameters')) {
	const heads = ['parameter', 'value', 'low', 'high', 'samples', 'status', 'method'], shown = 300;
	const [head, body, input, count] = ['thead', 'tbody', 'input', 'output'].map((tag) => box.querySelector(tag));
	let rows, base = '', key = -1, up = true;
	const times = [[1e-6, 1e9, 'ns'], [1e-3, 1e6, 'us'], [1, 1e3, 'ms'], [Infinity, 1, 's']];
	const scaled = (text, unit, size) => {
		if (text === '') return '-';
		const x = Math.abs(size === '' ? text : size);
		let factor = 1, name = unit;
		if (unit === 's') [, factor, name] = times.find(([most]) => x < most);
		else if (/^(B|B\/s|Hz|flop\/s)$/.test(unit))
			for (const [least, letter] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
				if (x >= least) { [factor, name] = [1 / least, letter + unit]; break; }
		return Number((text * factor).toPrecision(4)) + (name ? ' ' + name : '');
	};
	const draw = () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		const found = rows.filter((row) => words.every((word) => row.text.includes(word)));
		if (key >= 0)
			found.sort((a, b) => {
				const [p, q] = [a.sort[key], b.sort[key]];
				return (typeof p === 'number' && typeof q === 'number' ? p - q : String(p).localeCompare(String(q))) * (up ? 1 : -1);
			});
		count.textContent = found.length + ' rows' + (found.length > shown ? ', the first ' + shown + ' shown' : '');
		body.replaceChildren(...found.slice(0, shown).map((row) => {
			const line = document.createElement('tr');
			if (row.sort[5] !== 'ok') line.className = row.sort[5];
			row.cells.forEach((text, i) => {
				const cell = line.insertCell();
				cell.textContent = text;
				if (i > 0 && i < 5) cell.className = 'n';
			});
			return line;
		}));
	};
	box.addEventListener('toggle', () => {
		if (rows) return;
		const lines = (kind) => box.querySelector('template.' + kind).content.textContent.trimEnd().split('\n');
		const methods = lines('methods');
		rows = lines('rows').map((line) => {
			const [own, value, unit, low, high, samples, state, method] = line.split('\t');
			const name = own[0] === '[' ? base + own : own, status = state || 'ok';
			base = name.split('[')[0];
			const number = (text) => text === '' ? -Infinity : Number(text);
			return {
				text: [name, status, methods[method]].join(' ').toLowerCase(),
				sort: [name, number(value), number(low), number(high), number(samples), status, methods[method]],
				cells: [name, scaled(value, unit, ''), scaled(low, unit, value), scaled(high, unit, value), samples, status, methods[method]],
			};
		});
		head.replaceChildren(document.createElement('tr'));
		heads.forEach((title, i) => {
			const button = document.createElement('button'), cell = document.createElement('th');
			button.textContent = title;
			button.onclick = () => { up = key === i ? !up : true; key = i; draw(); };
			cell.append(button);
			head.firstChild.append(cell);
		});
		input.oninput = draw;
		draw();
	});
}

// The values at the points of figures without gnuplot's hypertext: from the points' places between the ends of the axes (frames.awk).
// They are made when a figure is unfolded.
const sized = (x) => {
	const [size, name] = [[2 ** 30, ' GiB'], [2 ** 20, ' MiB'], [2 ** 10, ' KiB'], [0, ' B']].find(([least]) => x >= least * 0.99);
	return Number((x / (size || 1)).toPrecision(3)) + name;
};
// Of an axis: its pixels and ends, whether it is logarithmic, its labels.
const axis = (from, to, low, high, log, labels) => {
	const share = (x) => (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
	const names = labels.split(';').filter(Boolean).map((text) => [share(Number(text.split('=')[0])), text.slice(text.indexOf('=') + 1)]);
	const bytes = names.some(([, name]) => /[KMG]iB$/.test(name));
	return {
		holds: (at) => at >= Math.min(from, to) - 1 && at <= Math.max(from, to) + 1,
		value: (at) => {
			const part = (at - from) / (to - from), near = names.find(([where]) => Math.abs((where - part) * (to - from)) < 0.7);
			const place = (part) => (log ? low * (high / low) ** part : low + (high - low) * part);
			const x = place(part), least = Math.abs(place(part + 0.1 / (to - from)) - x); // of a tenth of a pixel
			const digits = Math.floor(Math.log10(Math.abs(x) / least));
			return near ? near[1] : bytes ? sized(x) : digits < 0 ? '0' : String(Number(x.toPrecision(Math.min(digits + 1, 3))));
		},
	};
};
const show_values = (svg) => {
	const parts = svg.dataset.frames.split('|'), panels = [];
	svg.removeAttribute('data-frames');
	for (let i = 0; i + 2 < parts.length; i += 3) {
		const [left, right, top, bottom, xmin, xmax, xlog, ymin, ymax, ylog] = parts[i].split(' ').map(Number);
		panels.push([axis(left, right, xmin, xmax, xlog, parts[i + 1]), axis(bottom, top, ymin, ymax, ylog, parts[i + 2])]);
	}
	for (const point of svg.querySelectorAll('use')) {
		const place = /translate\(([\d.]+),([\d.]+)/.exec(point.getAttribute('transform'));
		if (!place) continue;
		const [left, top] = [Number(place[1]) + 0.05, Number(place[2]) + 0.05]; // cut after the first decimal
		const panel = panels.find(([x, y]) => x.holds(left) && y.holds(top));
		if (!panel) continue;
		let curve = point.parentElement;
		while (curve.tagName === 'g' && !curve.querySelector(':scope > title')) curve = curve.parentElement;
		const title = document.createElementNS(svg.namespaceURI, 'title');
		title.textContent = (curve.tagName === 'g' ? curve.querySelector(':scope > title').textContent + ': about ' : 'about ') + panel[0].value(left) + ', ' + panel[1].value(top);
		point.append(title);
	}
};
const show_all = (box) => box.querySelectorAll('svg[data-frames]').forEach((svg) => svg.closest('details:not([open])') || show_values(svg));
addEventListener('toggle', (event) => show_all(event.target), true);
show_all(document);
