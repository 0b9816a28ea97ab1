/** Chains of requests that this process has written, for each open store: the latest ones, up to a size. */
import type { ChainState } from './request-chain.ts';

/** The chains that this process has written, those of the latest requests. */
class KnownChains {
  readonly #chains = new Map<string, KnownChain & { readonly weight: number }>();
  #weight = 0;

  find(threadId: string, chain: string): KnownChain | undefined {
    return this.#chains.get(keyOf(threadId, chain));
  }

  /** `bytes`: size of its newest request. */
  keep(threadId: string, chain: string, known: KnownChain, bytes: number): void {
    const key = keyOf(threadId, chain);
    this.#drop(key);
    const weight = bytes + LEAST_WEIGHT;
    this.#chains.set(key, { ...known, weight });
    this.#weight += weight;
    for (const [oldest] of this.#chains) {
      if (this.#weight <= MOST_BYTES || oldest === key) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#weight -= this.#chains.get(key)?.weight ?? 0;
    this.#chains.delete(key);
  }
}

const keyOf = (threadId: string, chain: string) => `${threadId} ${chain}`;
/** Bytes of messages that are held, and of what a chain takes besides them. */
const MOST_BYTES = 32_000_000;
const LEAST_WEIGHT = 2000;

export interface KnownChain {
  /** Its newest call. */
  readonly at: string;
  readonly state: ChainState;
}

const stores = new WeakMap<object, KnownChains>();

/** `db`: the database of the store. */
export function knownChains(db: object): KnownChains {
  const known = stores.get(db) ?? new KnownChains();
  stores.set(db, known);
  return known;
}
