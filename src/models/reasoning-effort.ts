/** The providers' words for a reasoning level (definitions §5.6: low, medium and high are 33, 66 and 100). */

export type ReasoningEffort = 'none' | 'low' | 'medium' | 'high';

/** The nearest word for a level of 0 to 100; undefined leaves the choice to the provider. */
export function toReasoningEffort(level: number | undefined): ReasoningEffort | undefined {
  if (level === undefined) return undefined;
  if (level <= 0) return 'none';
  if (level < 50) return 'low';
  return level < 84 ? 'medium' : 'high';
}
