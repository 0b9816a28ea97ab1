/** `defineManifest` (docs/tasks.md): checks a manifest immediately, including its files, and hashes its content. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type {
  ManifestDefinition,
  ManifestDocument,
  ManifestIssue,
  ManifestSurfaces,
  Rubric,
} from '../core/author/manifest.ts';
import type { Awaitable } from '../core/author/task.ts';
import type { KnowledgeRequirement } from '../core/task/knowledge.ts';
import { canonicalJson } from '../core/value/canonical-json.ts';
import { checkFields, type FieldTable } from './check.ts';
import { badKnowledge, readKnowledge } from './define-task.ts';
import { markDefinition } from './definition-mark.ts';
import { custom, text } from './field.ts';
import { findIssues, readSurfaces } from './manifest-content.ts';
import { DefinitionError, type FieldProblem } from './problem.ts';

const isFunction = (value: unknown) => typeof value === 'function';
const notBlank = text.refine((value) => value.trim() !== '', 'must not be blank');

const manifest = z.strictObject({
  id: notBlank,
  repoRoot: notBlank,
  surfaces: z.record(z.string(), text),
  knowledge: z.array(z.unknown()).optional(),
  rubric: z
    .strictObject({
      dimensions: z.array(
        z.strictObject({
          id: text,
          weight: z.number().nonnegative(),
          label: text.optional(),
          score: custom<Rubric['dimensions'][number]['score']>(
            isFunction,
            'must be a function: ({ output }) => 0 to 1',
          ),
        }),
      ),
      judges: z
        .array(
          z.strictObject({
            id: text,
            model: text,
            dimensions: z.array(text),
            anchors: z.array(text).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
  personas: custom<NonNullable<ManifestDefinition['personas']>>(
    isFunction,
    'must be a function: () => […]',
  ).optional(),
  run: z.union([
    text,
    custom<(...given: never[]) => unknown>(isFunction, 'must name a task or an agent, or be a function'),
  ]),
});

const MANIFEST: FieldTable<typeof manifest, ManifestInput> = {
  what: 'defineManifest',
  fields: manifest,
  rules: [],
  warnings: [],
  identity: 'id',
  hints: { name: 'write id', requiredKnowledge: 'write knowledge' },
  more: ({ knowledge, rubric }) => [
    ...badKnowledge({ requiredKnowledge: knowledge }).map(({ field, message }) => ({
      field: field.replace('requiredKnowledge', 'knowledge'),
      message,
    })),
    ...badJudges(rubric),
  ],
};

/** Reports judges that name a dimension which the rubric does not have. */
function badJudges(rubric: unknown): FieldProblem[] {
  const { dimensions = [], judges = [] } = (rubric ?? {}) as {
    readonly dimensions?: readonly { readonly id?: unknown }[];
    readonly judges?: readonly { readonly dimensions?: readonly unknown[] }[];
  };
  if (!Array.isArray(dimensions) || !Array.isArray(judges)) return [];
  const known = new Set(dimensions.map((each) => each?.id));
  return judges.flatMap((judge, index) =>
    [judge?.dimensions ?? []]
      .flat()
      .filter((name) => !known.has(name))
      .map((name) => ({
        field: `rubric.judges[${index}].dimensions`,
        message: `names the dimension ${JSON.stringify(name)}, which the rubric does not have`,
      })),
  );
}

/** Minimum and maximum of the sum of a rubric's weights. */
const WEIGHTS = [0.5, 1.5] as const;

/**
 * Defines a manifest; the default export of a file in `agents/manifests/`. Tasks that are started from the definition
 * named as `run` record the hash of its content. Throws an `InvalidDefinitions` error that lists every problem, with
 * `agentId` and `issues` if a surface is missing or of the wrong kind.
 * @example
 * ```ts
 * export default defineManifest({
 *   id: 'triage',
 *   repoRoot: import.meta.dirname,
 *   surfaces: { prompt: 'prompts', tools: 'tools' },
 *   rubric: { dimensions: [{ id: 'closed', weight: 1, score: ({ output }) => (output === 'closed' ? 1 : 0) }] },
 *   run: 'triage',
 * });
 * ```
 */
export function defineManifest(input: ManifestInput): ManifestDefinition {
  const { fields, warnings } = checkFields(MANIFEST, input);
  const { id, repoRoot, surfaces, rubric, personas, run } = fields;
  const issues = findIssues(repoRoot, surfaces);
  const problems = [...issues.map(toProblem), ...badWeights(rubric)];
  if (problems.length > 0)
    throw Object.assign(
      new DefinitionError('defineManifest', problems, id),
      issues.length > 0 && { agentId: id, issues },
    );
  const knowledge = readKnowledge(fields.knowledge);
  const named = typeof run === 'string' ? run : null;
  const document: ManifestDocument = {
    id,
    run: named,
    surfaces: readSurfaces(repoRoot, surfaces),
    knowledge,
    rubric: {
      dimensions: (rubric?.dimensions ?? []).map(({ score: _, ...kept }) => kept),
      judges: rubric?.judges ?? [],
    },
  };
  return markDefinition<ManifestDefinition>(
    {
      kind: 'manifest',
      name: '',
      id,
      repoRoot,
      surfaces,
      knowledge,
      run: named,
      ...(typeof run === 'function' && { runHere: run }),
      document,
      hash: hash('sha256', canonicalJson(document)),
      ...(rubric && { rubric }),
      ...(personas && { personas }),
    },
    warnings,
  );
}

function toProblem({ surface, path, reason }: ManifestIssue): FieldProblem {
  return { field: `surfaces.${surface}`, message: `${ISSUE_TEXTS[reason]}: ${path}` };
}

const ISSUE_TEXTS = {
  missing: 'does not exist',
  'not-directory': 'must be a directory',
  'not-file': 'must be a file',
  outside: 'must be inside repoRoot',
} as const;

function badWeights(
  rubric: { readonly dimensions: readonly { readonly weight: number }[] } | undefined,
): FieldProblem[] {
  const dimensions = rubric?.dimensions ?? [];
  const total = dimensions.reduce((sum, { weight }) => sum + weight, 0);
  if (dimensions.length === 0 || (total >= WEIGHTS[0] && total <= WEIGHTS[1])) return [];
  const message = `weights sum to ${total.toFixed(3)}; they must add up to about 1 (${WEIGHTS[0]} to ${WEIGHTS[1]})`;
  return [{ field: 'rubric.dimensions', message }];
}

/** What authors pass to `defineManifest`. */
export interface ManifestInput {
  /** Id of the agent, under which runs and findings are filed. */
  id: string;
  /** The folder that contains the surfaces: `import.meta.dirname` of the file, or a path derived from it. */
  repoRoot: string;
  /**
   * Paths of what may be edited, by name: `prompt`, `skills`, `tools`, `personas`, `knowledge`, and others of your own.
   * They are directories, except `rubric`, `outputSchema`, `rolloutPolicy` and `agentProfile`, which are files;
   * `prompt` and `systemPrompt` may be either.
   */
  surfaces: ManifestSurfaces;
  /** What must be known before a task of this manifest acts, unless the task or its definition sets that itself. */
  knowledge?: readonly (Partial<KnowledgeRequirement> & Pick<KnowledgeRequirement, 'id' | 'description'>)[];
  /** Scores each task at its end. The weights of its dimensions add up to about 1. */
  rubric?: Rubric;
  /** Returns the personas, in order. */
  personas?: () => Awaitable<readonly unknown[]>;
  /**
   * Name of a task of `agents/tasks`, or of an agent. A function exists only in its process, so no task belongs to such
   * a manifest; `handleChatTurn({ agent, … })` of `everthread/tangle` calls it as what produces a turn.
   */
  run: string | ((...given: never[]) => unknown);
}
