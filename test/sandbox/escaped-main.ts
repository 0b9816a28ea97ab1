/**
 * A compromised child: it has the same walls as any other, and runs its job's source as plain JavaScript in its main
 * realm, with everything that Node offers, instead of in an isolate.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { openChannel } from '../../src/sandbox/channel.ts';
import type { Wire } from '../../src/sandbox/codec/wire.ts';
import { encodeFrame } from '../../src/sandbox/frame.ts';

const CHANNEL_FD = 3;
const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: string[]
) => (...args: unknown[]) => Promise<unknown>;

interface Told {
  readonly kind: string;
  readonly job?: { readonly id: number; readonly source: string };
  readonly crossing?: { readonly id: number };
}

const tools = {
  require: createRequire(import.meta.url),
  /** Messages from the host, newest last. */
  heard: [] as Told[],
  onHeard: (_told: Told): void => undefined,
  say: (head: object, wire?: Wire) => channel.send(head, wire),
  raw: (bytes: Uint8Array) => void socket.write(bytes),
  /** Writes the bytes at once, without joining them with others. */
  rawNow: (bytes: Uint8Array) => writeNow(bytes),
  frame: (head: object, wire?: Wire) => Buffer.concat(encodeFrame(head, wire)),
  /** A text value as the codec would write it. */
  text: (value: string): Wire => ({ text: JSON.stringify([value, 'V']) }),
  /** The arguments of a call, with one text. */
  args: (value: string): Wire => ({ text: JSON.stringify([[1], [value], 'VA']) }),
};

const channel = openChannel(socket, {
  onFrame: ({ head }) => void receive(head as Told),
  onFault: () => process.exit(1),
});
socket.once('close', () => process.kill(process.pid, 'SIGKILL'));

function writeNow(bytes: Uint8Array): void {
  for (;;) {
    try {
      writeSync(CHANNEL_FD, bytes);
      return;
    } catch (error) {
      // Retry: the host has not read the earlier bytes yet.
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
    }
  }
}

async function receive(told: Told): Promise<void> {
  tools.heard.push(told);
  tools.onHeard(told);
  if (!told.job) return;
  const { id, source } = told.job;
  const settle = (value: unknown) =>
    channel.send(
      { kind: 'settled', run: id, settlement: { status: 'success', held: false }, memoryUsedBytes: 1 },
      tools.text(String(value)),
    );
  try {
    const value = await new AsyncFunction(
      'tools',
      'run',
      `const { require, say, raw, rawNow, frame, text, args } = tools;\n${source}`,
    )(tools, id);
    if (value === undefined) return;
    settle(value);
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    settle(`held ${code ?? ''} ${String(message ?? error).split('\n')[0]}`);
  }
  channel.send({ kind: 'idle', run: id, rssBytes: 1 });
}

if (process.argv[2] !== 'silent') channel.send({ kind: 'ready' });
