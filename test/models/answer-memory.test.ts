/**
 * How much of a worker's memory a hostile answer takes, measured from outside: a separate process with a small heap.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { again, type RudeAnswer, serveRudely } from './rude-server.ts';

const MEGABYTE = 'x'.repeat(1024 * 1024);
const HEAP = 128;
/** Limit in MB for the whole process: Node, our code and its libraries alone take some 150. */
const MEGABYTES = 600;

async function read(answer: RudeAnswer, mode: 'streamed' | 'whole') {
  const server = await serveRudely(() => answer);
  try {
    const script = new URL('./rude-reader.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP}`, script, server.url, mode]);
    const [out, , [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return {
      status: status as unknown,
      ...(JSON.parse(out || '{}') as { code?: string; megabytes?: number }),
    };
  } finally {
    await server.close();
  }
}

describe('[definitions 5.5] the memory of a process that reads', () => {
  it.each<[string, 'streamed' | 'whole', () => RudeAnswer]>([
    [
      'a line of 600 MB',
      'streamed',
      () => ({
        body: (function* () {
          yield 'data: {"x":"';
          yield* again(MEGABYTE, 600);
        })(),
      }),
    ],
    [
      'a body of 600 MB',
      'whole',
      () => ({ headers: { 'content-type': 'application/json' }, body: again(MEGABYTE, 600) }),
    ],
    [
      'an error of 600 MB',
      'streamed',
      () => ({ status: 400, headers: { 'content-type': 'text/plain' }, body: again(MEGABYTE, 600) }),
    ],
    [
      'a line of 600 MB that was compressed to one thousandth',
      'streamed',
      () => ({ headers: { 'content-encoding': 'gzip' }, body: again(gzipSync(MEGABYTE.repeat(20)), 30) }),
    ],
  ])('%s stays bounded', async (title, mode, answer) => {
    const { status, code, megabytes } = await read(answer(), mode);
    expect({ status, code }).toEqual({
      status: 0,
      code: title.includes('error') ? 'invalid_request' : 'AnswerTooLarge',
    });
    expect(megabytes).toBeLessThan(MEGABYTES);
  });
});
