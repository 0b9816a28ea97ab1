/** What a run scores by the rubric of its manifest. */
import type { ManifestDefinition, ScoredRun } from './manifest.ts';

export interface RubricScore {
  /** 0 to 1, by dimension. */
  readonly scores: Readonly<Record<string, number>>;
  /** Their weighted mean, to three decimals. */
  readonly score: number;
}

/**
 * Scores a run as the end of a task does; null if the manifest has no dimensions. Judges are not asked. Throws what a
 * dimension throws, and an error for a score outside 0 to 1.
 * @example
 * ```ts
 * const dimensions = [{ id: 'short', weight: 1, score: ({ output }: ScoredRun) => (String(output).length < 80 ? 1 : 0) }];
 * const scored = await scoreAgentRun({ rubric: { dimensions } }, { persona: 'ada', output: 'Hello.' });
 * console.log(scored?.score); // 1
 * ```
 */
export async function scoreRun(
  { rubric }: Pick<ManifestDefinition, 'rubric'>,
  run: ScoredRun,
): Promise<RubricScore | null> {
  const { dimensions = [] } = rubric ?? {};
  if (dimensions.length === 0) return null;
  const scores: Record<string, number> = {};
  for (const { id, score } of dimensions) scores[id] = checkScore(id, await score(run));
  const total = dimensions.reduce((sum, { weight }) => sum + weight, 0);
  const reached = dimensions.reduce((sum, { id, weight }) => sum + weight * (scores[id] ?? 0), 0);
  return { scores, score: Math.round((reached / total) * 1000) / 1000 };
}

function checkScore(id: string, score: unknown): number {
  if (typeof score === 'number' && score >= 0 && score <= 1) return score;
  throw new Error(`the dimension "${id}" did not return a number from 0 to 1`);
}
