/** A separate process that asks one model and prints the outcome and its memory: `rude-reader.ts URL`. */
import { existsSync, readFileSync } from 'node:fs';
import { callModel } from '../../src/models/call-model.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { ask, defineTestModel } from './support.ts';

const [url = '', streamed = ''] = process.argv.slice(2);
const model = defineTestModel('rude', openaiCompatible({ baseUrl: url }), {
  capabilities: { supportsStreaming: streamed === 'streamed' },
});
const result = await callModel({
  models: [model],
  request: () => ask('hello'),
  signal: new AbortController().signal,
});
const code = result.ok ? 'ok' : result.error.code;
console.log(JSON.stringify({ code, megabytes: Math.round(peakKilobytes() / 1024) }));

/** On Linux, maxRSS begins with that of the process which started this one, so the kernel's own mark is read there. */
function peakKilobytes(): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const [, peak] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? [];
  return peak === undefined ? process.resourceUsage().maxRSS : Number(peak);
}
