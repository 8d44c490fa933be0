// Reads cases from stdin, one JSON a line, and writes for each the next times by croner and by
// cron-parser, in Unix seconds; null = the library refuses the expression or finds none.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.argv[2] + "/");
const { Cron } = require("croner");
const { CronExpressionParser } = require("cron-parser");

function seconds(f) {
	try {
		return f().map((d) => Math.floor(d.getTime() / 1000));
	} catch {
		return null;
	}
}

for await (const line of createInterface({ input: process.stdin })) {
	const { text, zone, from, n } = JSON.parse(line);
	const start = new Date(from * 1000);
	const croner = seconds(() => new Cron(text, { timezone: zone, paused: true }).nextRuns(n, start));
	const parser = seconds(() => {
		const e = CronExpressionParser.parse(text, { currentDate: start, tz: zone });
		return Array.from({ length: n }, () => e.next().toDate());
	});
	console.log(JSON.stringify({ croner, parser }));
}
