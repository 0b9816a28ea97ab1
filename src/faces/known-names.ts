/** Refuses options and fields that nothing reads: one that is spelt wrongly would have no effect. */
import { RuntimeError } from '../core/value/error.ts';
import { didYouMean } from '../definitions/suggestion.ts';
import type { EngineOptions } from '../worker/in-process.ts';

/** Throws `InvalidValue` with the name. `what`: with its article. */
export function checkNames(what: string, kind: 'field' | 'option', given: object, known: object): void {
  const strange = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (strange === undefined) return;
  const [own, all] = [`${kind} "${strange}"`, Object.keys(known).join(', ')];
  // Pages of Python have words with underscores.
  const meant = didYouMean(strange.replaceAll('_', ''), Object.keys(known));
  throw new RuntimeError('InvalidValue', `${what} has no ${own}: its ${kind}s are ${all}.${meant}`);
}

/** Names as the keys of an object, so that the compiler compares them with the type. */
export type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

export const ENGINE_OPTIONS: Names<EngineOptions> = {
  store: true,
  taskQueue: true,
  projectDir: true,
  workflowBundle: true,
  server: true,
  settings: true,
};
