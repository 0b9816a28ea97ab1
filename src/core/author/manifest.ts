/** The manifest of an agent that tasks are measured by (docs/tasks.md): its surfaces, what it must know, its rubric, its personas, what runs it. Types alone. */
import type { KnowledgeRequirement } from '../task/knowledge.ts';
import type { Awaitable } from './task.ts';

/** What the rubric is asked about a run. */
export interface ScoredRun {
  /** JSON: what the task stopped with, else the last state that it observed. */
  readonly output: unknown;
  /** The inputs of the task, where a persona played it: one of `personas`. */
  readonly persona: unknown;
}

export interface RubricDimension {
  readonly id: string;
  /** 0 to 1; all of them add up to about 1. */
  readonly weight: number;
  readonly label?: string;
  /** 0 to 1. */
  readonly score: (run: ScoredRun) => Awaitable<number>;
}

export interface Rubric {
  readonly dimensions: readonly RubricDimension[];
  readonly judges?: readonly {
    readonly id: string;
    /** A pinned version of a model. */
    readonly model: string;
    readonly dimensions: readonly string[];
    readonly anchors?: readonly string[];
  }[];
}

/** What may be edited of an agent, by the name of the surface: paths below `repoRoot`. */
export type ManifestSurfaces = Readonly<Record<string, string>>;

export interface ManifestIssue {
  readonly surface: string;
  readonly path: string;
  readonly reason: 'missing' | 'not-directory' | 'not-file' | 'outside';
}

/** A manifest as it is compared: JSON. */
export interface ManifestDocument {
  readonly id: string;
  readonly run: string | null;
  /** By surface: its path, and each file with the SHA-256 of its content. */
  readonly surfaces: Readonly<
    Record<string, { readonly path: string; readonly files: Readonly<Record<string, string>> }>
  >;
  readonly knowledge: readonly KnowledgeRequirement[];
  readonly rubric: {
    readonly dimensions: readonly Pick<RubricDimension, 'id' | 'weight' | 'label'>[];
    readonly judges: NonNullable<Rubric['judges']>;
  };
}

export interface ManifestDefinition {
  readonly kind: 'manifest';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly id: string;
  readonly repoRoot: string;
  readonly surfaces: ManifestSurfaces;
  readonly knowledge: readonly KnowledgeRequirement[];
  readonly rubric?: Rubric;
  readonly personas?: () => Awaitable<readonly unknown[]>;
  /** A task of `agents/tasks`, or an agent of `agents/agents`; null for code that lives with its process. */
  readonly run: string | null;
  readonly document: ManifestDocument;
  /** SHA-256 of the document: 64 hex digits. */
  readonly hash: string;
}
