/** One rule of the spec, in our own words. */
export interface Requirement {
  readonly id: string;
  readonly level: 'MUST' | 'SHOULD' | 'MAY';
  readonly text: string;
  /** Why no test shows it yet. */
  readonly waitsFor?: string;
}
