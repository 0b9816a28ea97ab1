/**
 * A model of V8's hash tables, against hash flooding. V8 hashes numbers and bigints without a secret, so the sender of
 * a Map or Set can choose keys that all fall into one chain of its table: 30,000 such keys keep a thread busy for
 * seconds. This model counts the same hashes into the same chains before a key is inserted, so the cost of the
 * insertion is known in advance. Strings are hashed with a per-process seed, and objects by a random number: neither
 * can be chosen.
 */
import { isNotANumber, lowBits, NumberOf, Uint32ArrayOf } from './intrinsics.ts';

export interface KeyTable {
  /** Number of keys of every kind: it determines when V8's table grows. */
  keys: number;
  /** Hashes of the numeric keys. */
  hashes: Uint32Array;
  numeric: number;
  /** Number of numeric keys in each chain. */
  chains: Uint32Array;
  buckets: number;
}

/** Tables of at most this many keys are not modelled: their cost is negligible even if all keys collide. */
export const SMALL_TABLE = 32;
/** Keys per chain at which V8 doubles its table. */
const LOAD = 2;
const FIRST_BUCKETS = 2;

export function createKeyTable(keys: number): KeyTable {
  return {
    keys: 0,
    hashes: new Uint32ArrayOf(keys),
    numeric: 0,
    chains: new Uint32ArrayOf(FIRST_BUCKETS),
    buckets: FIRST_BUCKETS,
  };
}

/** Adds a key, and returns how many others V8 has to pass in its chain. */
export function addKey(table: KeyTable, key: unknown): number {
  if (table.keys === table.buckets * LOAD) grow(table);
  table.keys += 1;
  const hash = hashOf(key);
  if (hash < 0) return 0;
  table.hashes[table.numeric] = hash;
  table.numeric += 1;
  const chain = hash & (table.buckets - 1);
  const steps = table.chains[chain]!;
  table.chains[chain] = steps + 1;
  return steps;
}

function grow(table: KeyTable): void {
  table.buckets *= 2;
  table.chains = new Uint32ArrayOf(table.buckets);
  const { hashes, chains, buckets, numeric } = table;
  for (let i = 0; i < numeric; i++) {
    const chain = hashes[i]! & (buckets - 1);
    chains[chain] = chains[chain]! + 1;
  }
}

const double = new Float64Array(1);
/** The same eight bytes, as two words of 32 bits. */
const words = new Uint32ArrayOf(double.buffer);

/** Returns the hash that V8 computes, or -1 for keys whose hash cannot be chosen. */
export function hashOf(key: unknown): number {
  if (typeof key === 'number') {
    // -0 is the same key as 0, and NaN is one key.
    if (key === (key | 0)) return shortHash(key | 0);
    if (isNotANumber(key)) return -1;
    double[0] = key;
    return longHash(words[0]!, words[1]!);
  }
  if (typeof key !== 'bigint') return -1;
  // V8 hashes only the lowest digit, without the sign.
  const digit = lowBits(64, key < 0n ? -key : key);
  return longHash(NumberOf(lowBits(32, digit)), NumberOf(digit >> 32n));
}

/** V8's ComputeUnseededHash, for integers of 32 bits. */
function shortHash(key: number): number {
  let hash = ~key + (key << 15);
  hash ^= hash >>> 12;
  hash = (hash + (hash << 2)) | 0;
  hash ^= hash >>> 4;
  // Times 2057.
  hash = (hash + (hash << 3) + (hash << 11)) | 0;
  hash ^= hash >>> 16;
  return hash & 0x3fffffff;
}

const WORD = 2 ** 32;

/** V8's ComputeLongHash, for 64 bits given as two words. */
function longHash(lowWord: number, highWord: number): number {
  // ~key + (key << 18)
  let product = lowWord * 0x3ffff;
  let low = product >>> 0;
  let high = (highWord * 0x3ffff + (product - low) / WORD) >>> 0;
  if (low === 0) high = (high - 1) >>> 0;
  low = (low - 1) >>> 0;
  // ^ key >>> 31
  low = (low ^ ((high << 1) | (low >>> 31))) >>> 0;
  high = (high ^ (high >>> 31)) >>> 0;
  product = low * 21;
  high = (high * 21 + (product - (product >>> 0)) / WORD) >>> 0;
  low = product >>> 0;
  // ^ key >>> 11
  low = (low ^ ((low >>> 11) | (high << 21))) >>> 0;
  high = (high ^ (high >>> 11)) >>> 0;
  // + key << 6
  product = low * 65;
  high = (high * 65 + (product - (product >>> 0)) / WORD) >>> 0;
  low = product >>> 0;
  // ^ key >>> 22
  return (low ^ ((low >>> 22) | (high << 10))) & 0x3fffffff;
}
