/** Limits and a function table for the tests of the codec. */
import { decode } from '../../src/sandbox/codec/decode.ts';
import { encode } from '../../src/sandbox/codec/encode.ts';
import type { FunctionTable, Wire } from '../../src/sandbox/codec/wire.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/limits.ts';

export const LIMITS = {
  maxBytes: SANDBOX_LIMITS.transferBytes,
  maxElements: SANDBOX_LIMITS.transferElements,
  maxDepth: SANDBOX_LIMITS.transferDepth,
};

export interface RecordingTable extends FunctionTable {
  readonly given: unknown[];
  readonly taken: [id: number, name: string][];
}

/** A function table of one side that records the functions given and taken. */
export function recordingTable(): RecordingTable {
  const given: unknown[] = [];
  const taken: [number, string][] = [];
  const proxies: unknown[] = [];
  return {
    given,
    taken,
    give: (fn) => given.push(fn) - 1,
    take(id, name) {
      taken.push([id, name]);
      proxies[id] ??= () => id;
      return proxies[id];
    },
    homeId(fn) {
      const id = proxies.indexOf(fn);
      return id < 0 ? undefined : id;
    },
    home: (id) => given[id],
  };
}

export const roundTrip = (value: unknown): unknown =>
  decode(encode(value, undefined, LIMITS).wire, undefined, LIMITS);

/** The wire of a table as a writer would send it. */
export const wireOf = (kinds: string, ...table: unknown[]): Wire => ({
  text: JSON.stringify([...table, kinds]),
});
