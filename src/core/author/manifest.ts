/**
 * The manifest of an agent whose tasks are evaluated (docs/tasks.md): surfaces, required knowledge, rubric, personas,
 * and what runs it. Types alone.
 */
import type { KnowledgeRequirement } from '../task/knowledge.ts';
import type { Awaitable } from './task.ts';

/** A run that the rubric scores. */
export interface ScoredRun {
  /** JSON: the outcome that the task stopped with, else the last state that it observed. */
  readonly output: unknown;
  /** The inputs of the task; one of `personas` if a persona played it. */
  readonly persona: unknown;
}

export interface RubricDimension {
  readonly id: string;
  /** 0 to 1; the weights of all dimensions add up to about 1. */
  readonly weight: number;
  readonly label?: string;
  /** Returns 0 to 1. */
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

/** The editable parts of an agent: paths below `repoRoot`, by surface name. */
export type ManifestSurfaces = Readonly<Record<string, string>>;

export interface ManifestIssue {
  readonly surface: string;
  readonly path: string;
  readonly reason: 'missing' | 'not-directory' | 'not-file' | 'outside';
}

/** The JSON form of a manifest, used for comparison. */
export interface ManifestDocument {
  readonly id: string;
  readonly run: string | null;
  /** By surface: its path, and the SHA-256 of the content of each file. */
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
  /** A task of `agents/tasks`, or an agent of `agents/agents`; null for code that exists only in its process. */
  readonly run: string | null;
  /** That code. */
  readonly runHere?: (...given: never[]) => unknown;
  readonly document: ManifestDocument;
  /** SHA-256 of the document: 64 hex digits. */
  readonly hash: string;
}
