/**
 * `request-times.ts URL`: a separate process that asks one model twice and prints the timeouts that its HTTP client
 * received.
 */
import { openaiCompatible } from '../../src/models/index.ts';
import { ask, collect } from './support.ts';

interface Times {
  readonly headersTimeout?: number;
  readonly bodyTimeout?: number;
}

// Loads the HTTP client.
new Request('http://127.0.0.1');
const key = Symbol.for('undici.globalDispatcher.1');
const holder = globalThis as unknown as { [key]: { dispatch(request: Times, handler: unknown): boolean } };
const used = holder[key];
const times: Times[] = [];
holder[key] = {
  dispatch(request, handler) {
    times.push({ headersTimeout: request.headersTimeout, bodyTimeout: request.bodyTimeout });
    return used.dispatch(request, handler);
  },
};

const provider = openaiCompatible({ baseUrl: process.argv[2] })({ apiKey: '' });
const { signal } = new AbortController();
await provider.generate(ask('hello', { signal }));
await collect(await provider.stream(ask('hello', { signal })));
console.log(JSON.stringify(times));
