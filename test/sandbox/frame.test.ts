/** Frames of the channel: whatever is written is read again however it is split, and nothing else is. */
import { describe, expect, it } from '@jest/globals';
import type { Wire } from '../../src/sandbox/codec/wire.ts';
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  MAX_CHILD_FRAME_BYTES,
} from '../../src/sandbox/frame.ts';

const bytes = (...parts: number[]): Uint8Array<ArrayBuffer> => new Uint8Array(parts);

const SENT: readonly { head: unknown; wire?: Wire }[] = [
  { head: { kind: 'ready' } },
  { head: { kind: 'crossing', run: 7 }, wire: { text: '["x","V"]' } },
  { head: { kind: 'a "quoted" \ud800 é' }, wire: { text: 'é, 你, \ud83d\ude00, a lone \udc00 and \u0000' } },
  { head: {}, wire: { text: '', bytes: bytes() } },
  { head: {}, wire: { text: 'with bytes', bytes: bytes(0, 255, 13) } },
  { head: {}, wire: { text: 'x'.repeat(300_000), bytes: new Uint8Array(70_000).fill(9) } },
];
const STREAM = Buffer.concat(SENT.flatMap(({ head, wire }) => encodeFrame(head, wire)));

function readAll(chunks: Iterable<Uint8Array>, longest?: number): Frame[] {
  const reader = createFrameReader(longest);
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let next = reader.next(); next; next = reader.next()) frames.push(next);
  }
  return frames;
}

function* cutInto(size: number): Generator<Uint8Array> {
  for (let at = 0; at < STREAM.length; at += size) yield Uint8Array.from(STREAM.subarray(at, at + size));
}

const plain = ({ head, wire }: Frame) => ({
  head: JSON.parse(JSON.stringify(head)),
  text: wire?.text,
  bytes: wire?.bytes && [...wire.bytes],
});

describe('frames', () => {
  it.each([1, 2, 3, 7, 64, 1000, 65_536, STREAM.length])(
    'are read as written, split into pieces of %i bytes',
    (size) => {
      expect(readAll(cutInto(size)).map(plain)).toEqual(SENT.map(plain));
    },
  );

  it('longer than the limit are refused by their length alone', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(MAX_CHILD_FRAME_BYTES + 1);
    expect(() => readAll([header], MAX_CHILD_FRAME_BYTES)).toThrow(
      `invalid frame length: ${MAX_CHILD_FRAME_BYTES + 1} bytes`,
    );
    expect(() => readAll([STREAM.subarray(0, 100)], 8)).toThrow('invalid frame length');
  });

  it.each<[string, [head: number, text: number, kind: number]]>([
    ['are longer than itself', [900, 900, 1]],
    ['have a text of no kind', [10, 10, 3]],
    ['have a text where there is none', [10, 10, 0]],
    ['end in half a character', [10, 9, 2]],
    ['leave bytes over', [10, 10, 1]],
  ])('whose parts %s are refused before the rest arrives', (_, [head, text, kind]) => {
    const start = Buffer.alloc(13);
    start.writeUInt32LE(1000, 0);
    start.writeUInt32LE(head, 4);
    start.writeUInt32LE(text, 8);
    start[12] = kind;
    expect(() => readAll([start])).toThrow(
      /shorter than its parts|unknown text encoding|odd length|undeclared/,
    );
  });

  it('of random bytes are refused or incomplete, and never read beyond their end', () => {
    let seed = 20_260_000;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed;
    };
    let refused = 0;
    for (let round = 0; round < 3000; round += 1) {
      const length = 9 + (random() % 40);
      const chunk = Buffer.from(Array.from({ length: length + 4 }, () => random() >> 16));
      chunk.writeUInt32LE(length);
      // Small lengths, so that the parts are parsed.
      chunk.writeUInt32LE(random() % 12, 4);
      chunk.writeUInt32LE(random() % 12, 8);
      try {
        for (const { wire } of readAll([chunk])) expect((wire?.text.length ?? 0) <= length).toBe(true);
      } catch {
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(2500);
  });

  it('with a flipped bit are read or refused, without other effects', () => {
    const whole = Buffer.concat(encodeFrame(SENT[4]?.head, SENT[4]?.wire));
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      try {
        expect(readAll([flipped], 1000).length).toBeLessThanOrEqual(1);
      } catch (error) {
        expect(String(error)).toMatch(
          /^Error: (invalid frame|a frame|a head|unknown text|UTF-16 text|undeclared bytes)/,
        );
      }
    }
  });
});
