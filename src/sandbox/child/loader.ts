/**
 * `import()` in user code (§13.2): links and evaluates a module once, then settles every `import()` of it. A module
 * that failed fails for all of them, as the language requires.
 */
import { encode } from '../codec/encode.ts';
import { TRANSFER } from '../limits.ts';
import type { Deliver } from './boot.ts';
import { toDynamicError } from './failure.ts';
import type { Graph, Target } from './graph.ts';

type State =
  /** `waiting` are the ids of the pending `import()` calls. */
  | { readonly kind: 'evaluating'; readonly target: Target; readonly waiting: number[] }
  | { readonly kind: 'loaded' }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Loader {
  readonly #graph: Graph;
  readonly #deliver: Deliver;
  readonly #run: (task: Promise<unknown>) => void;
  /** State by module number. */
  readonly #states = new Map<number, State>();

  constructor(graph: Graph, deliver: Deliver, run: (task: Promise<unknown>) => void) {
    this.#graph = graph;
    this.#deliver = deliver;
    this.#run = run;
  }

  async load(id: number, referrer: number, specifier: string): Promise<void> {
    let target: Target;
    try {
      target = await this.#graph.find(specifier, referrer);
    } catch (error) {
      return this.#refuse(id, error);
    }
    const { index } = target;
    const known = this.#states.get(index);
    if (known) return this.#answer(id, index, known);
    this.#states.set(index, { kind: 'evaluating', target, waiting: [id] });
    try {
      this.#run((await this.#graph.linkLoad(target)).evaluate());
    } catch (error) {
      this.#settle(index, { kind: 'failed', error });
    }
  }

  /** Called when the module with the number `index` has been evaluated. */
  evaluated(index: number): void {
    this.#settle(index, { kind: 'loaded' });
  }

  /** Checks whether any module under evaluation has failed. */
  async probe(): Promise<void> {
    for (const [index, state] of this.#states) {
      if (state.kind !== 'evaluating') continue;
      try {
        await this.#graph.probe(state.target);
      } catch (error) {
        this.#settle(index, { kind: 'failed', error });
      }
    }
  }

  #settle(index: number, state: State): void {
    const before = this.#states.get(index);
    if (before?.kind !== 'evaluating') return;
    this.#states.set(index, state);
    for (const id of before.waiting) this.#answer(id, index, state);
  }

  #answer(id: number, index: number, state: State): void {
    if (state.kind === 'loaded') this.#run(this.#deliver('loaded', id, index, ''));
    else if (state.kind === 'failed') this.#refuse(id, state.error);
    else state.waiting.push(id);
  }

  #refuse(id: number, error: unknown): void {
    const { name, message, stack } = toDynamicError(error, this.#graph.sources);
    const { wire } = encode([Object.assign(new Error(message), { name }), stack], undefined, TRANSFER);
    this.#run(this.#deliver('not_loaded', id, 0, wire.text, wire.bytes));
  }
}
