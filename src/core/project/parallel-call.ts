/** Which calls of an answer may be under way at once, by the definitions of their callees (thread/call-group.ts). Pure. */
import type { PromptDefinition } from '../author/definition.ts';
import type { Registry } from '../author/registry.ts';
import { markParallel } from '../thread/call-group.ts';
import { findCallee } from './callee.ts';

/** `names`: those of all calls, in order. The indices of the calls that get a mark. */
export function listParallel(
  registry: Registry,
  prompt: PromptDefinition,
  names: readonly string[],
): readonly number[] {
  return names.length < 2 ? [] : markParallel(names.map((name) => mayRunBeside(registry, prompt, name)));
}

/** A tool says so itself, a subagent by its entry in the prompt, which was checked (definitions/tool-reference.ts). */
function mayRunBeside(registry: Registry, prompt: PromptDefinition, name: string): boolean {
  const callee = findCallee(registry, name);
  if (callee?.kind === 'tool') return callee.parallel === true;
  return callee !== undefined && prompt.tools.find((entry) => entry.name === name)?.extra.parallel === true;
}
