/** Variables that a request sets or removes; all of them are validated before the first one is stored. */
import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { RuntimeError } from '../../core/value/error.ts';

export interface VariableChange {
  readonly name: string;
  /** Null: the variable is removed. */
  readonly value: string | null;
  readonly type?: EnvType | undefined;
}

type VariableInput = string | { readonly value: string; readonly type?: EnvType | undefined } | null;

/** Throws `InvalidVariable`. */
export function readVariables(env: Readonly<Record<string, VariableInput>>): readonly VariableChange[] {
  return Object.entries(env).map(([name, given]) => {
    const change = typeof given === 'string' ? { value: given } : (given ?? { value: null });
    const { value, type } = change as { value: string | null; type?: EnvType };
    const problem = variableProblem(name, value ?? '', type);
    if (problem !== undefined) throw new RuntimeError('InvalidVariable', problem);
    return { name, value, type };
  });
}
