/**
 * `import()` of the user's code (§13.2): links and evaluates the module once, then tells everyone who asked.
 * A module that failed fails for everyone, as the language says.
 */
import { encode } from '../codec/encode.ts';
import { TRANSFER } from '../limits.ts';
import type { Deliver } from './boot.ts';
import { toDynamicError } from './failure.ts';
import type { Graph, Target } from './graph.ts';

export interface Loader {
  load(id: number, referrer: number, specifier: string): Promise<void>;
  /** The module of that number has been evaluated. */
  evaluated(index: number): void;
  /** Asks of every module under evaluation whether it failed. */
  probe(): Promise<void>;
}

type State =
  | { readonly kind: 'evaluating'; readonly target: Target; readonly waiting: number[] }
  | { readonly kind: 'loaded' }
  | { readonly kind: 'failed'; readonly error: unknown };

export function createLoader(graph: Graph, deliver: Deliver, run: (task: Promise<unknown>) => void): Loader {
  const states = new Map<number, State>();

  const refuse = (id: number, error: unknown) => {
    const { name, message, stack } = toDynamicError(error, graph.sources);
    const { wire } = encode([Object.assign(new Error(message), { name }), stack], undefined, TRANSFER);
    run(deliver('not_loaded', id, 0, wire.text, wire.bytes));
  };
  const settle = (module: number, state: State) => {
    const before = states.get(module);
    if (before?.kind !== 'evaluating') return;
    states.set(module, state);
    for (const id of before.waiting) answer(id, module, state);
  };
  const answer = (id: number, module: number, state: State) => {
    if (state.kind === 'loaded') run(deliver('loaded', id, module, ''));
    else if (state.kind === 'failed') refuse(id, state.error);
    else state.waiting.push(id);
  };

  return {
    async load(id, referrer, specifier) {
      let target: Target;
      try {
        target = await graph.find(specifier, referrer);
      } catch (error) {
        return refuse(id, error);
      }
      const { index } = target;
      const known = states.get(index);
      if (known) return answer(id, index, known);
      states.set(index, { kind: 'evaluating', target, waiting: [id] });
      try {
        run((await graph.linkLoad(target)).evaluate());
      } catch (error) {
        settle(index, { kind: 'failed', error });
      }
    },
    evaluated: (index) => settle(index, { kind: 'loaded' }),
    async probe() {
      for (const [index, state] of states) {
        if (state.kind !== 'evaluating') continue;
        try {
          await graph.probe(state.target);
        } catch (error) {
          settle(index, { kind: 'failed', error });
        }
      }
    },
  };
}
