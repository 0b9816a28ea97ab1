/**
 * Resolves names inside one project, and describes a name that does not resolve.
 * Tools, prompts and agents share one namespace: all three are offered to models as callables (definitions §2.3).
 */
import type { ModelDefinition, PromptDefinition } from '../core/author/definition.ts';
import type { Registry, ToolDefinition } from '../core/author/registry.ts';
import type { Callee } from '../core/project/callee.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../core/project/subagent.ts';
import { objectShape } from './author-schema.ts';
import type { FieldProblem } from './problem.ts';
import { didYouMean } from './suggestion.ts';

export interface Scope extends Registry {
  /** Names of definitions in broken files. That problem is already reported, so references to them are accepted. */
  readonly unavailable: ReadonlySet<string>;
}

/** What one check found: problems stop the project, warnings do not. */
export interface Findings {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
}

export const NO_FINDINGS: Findings = { problems: [], warnings: [] };

export function joinFindings(all: readonly Findings[]): Findings {
  return {
    problems: all.flatMap((each) => each.problems),
    warnings: all.flatMap((each) => each.warnings),
  };
}

export const toFindings = (problems: readonly FieldProblem[]): Findings => ({ problems, warnings: [] });

export function callableNames(scope: Scope): string[] {
  return [...scope.tools.keys(), ...scope.prompts.keys(), ...scope.agents.keys()];
}

/** Returns a problem if `name` is not in `known`; `what` describes what it should be, such as `a prompt`. */
export function checkName(
  scope: Scope,
  field: string,
  what: string,
  name: string,
  known: Iterable<string>,
): FieldProblem[] {
  const all = [...known];
  if (all.includes(name) || scope.unavailable.has(name)) return [];
  return [{ field, message: `names ${what} '${name}', which does not exist.${didYouMean(name, all)}` }];
}

/** Returns a problem if `property` is given and is not an argument of `target`. */
export function checkArgument(
  field: string,
  property: string | undefined,
  target: Callee,
  known: readonly string[],
): FieldProblem[] {
  if (property === undefined || known.includes(property)) return [];
  const has = known.length === 0 ? 'takes none' : `takes ${known.map((name) => `'${name}'`).join(', ')}`;
  const message = `names the argument '${property}', but the ${target.kind} '${target.name}' ${has}.`;
  return [{ field, message: message + didYouMean(property, known) }];
}

/** Names of the arguments that a tool or a prompt takes. */
export function argumentNames(target: ToolDefinition | PromptDefinition | undefined): string[] {
  if (target === undefined) return [];
  return Object.keys(objectShape(target.kind === 'tool' ? target.args : target.requiredSchema) ?? {});
}

/** Tools that the provider of a model, or of one of its fallbacks, runs itself. */
export function providerToolNames(scope: Scope, model: ModelDefinition | undefined): readonly string[] {
  const models = [model, ...(model?.fallbacks ?? []).map((name) => scope.models.get(name))];
  return [...new Set(models.flatMap((each) => each?.providerTools ?? []))];
}

/** Tools that are offered with a resumable subagent (definitions §13.3); code may call them by name. */
export const LIFECYCLE_TOOLS: readonly string[] = [SUBAGENT_CREATE, SUBAGENT_MESSAGE];
