/** A separate process that asks one model and prints the outcome and its memory: `rude-reader.ts URL`. */
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
// The unit is kilobytes on every platform.
console.log(JSON.stringify({ code, megabytes: Math.round(process.resourceUsage().maxRSS / 1024) }));
