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
		let factor = 1, name = unit === 'count' || unit === 'ratio' ? '' : unit;
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
				return (typeof p === 'n' && typeof q === 'n' ? p - q : String(p).localeCompare(String(q))) * (up ? 1 : -1);
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
