/**
 * What a task must know before it acts, and whether it knows it. Pure: `now` is passed in, as milliseconds since 1970.
 * - A gap blocks if its requirement is `blocking`, falls back to `block`, or is secret.
 * - A score below the minimum is a caveat and never blocks: only requirements decide what blocks.
 */

export const ACQUISITION_MODES = [
  'ask_user',
  'search_web',
  'query_connector',
  'inspect_repo',
  'run_command',
  'infer_low_confidence',
  'not_available',
] as const;
export type AcquisitionMode = (typeof ACQUISITION_MODES)[number];

export const IMPORTANCES = ['blocking', 'high', 'medium', 'low'] as const;
export type KnowledgeImportance = (typeof IMPORTANCES)[number];
export const FALLBACKS = ['block', 'ask', 'use_default', 'continue_with_caveat'] as const;
export type KnowledgeFallback = (typeof FALLBACKS)[number];

export interface KnowledgeRequirement {
  readonly id: string;
  /** What must be known, worded for the person who is asked. */
  readonly description: string;
  readonly requiredFor: readonly string[];
  readonly category: string;
  readonly acquisitionMode: AcquisitionMode;
  readonly importance: KnowledgeImportance;
  readonly freshness: string;
  /** `secret`: asked for as a credential; the answer is the name of a variable, never its value. */
  readonly sensitivity: string;
  /** 0 to 1. */
  readonly confidenceNeeded: number;
  readonly currentConfidence: number;
  readonly evidenceIds: readonly string[];
  readonly fallbackPolicy: KnowledgeFallback;
  /** ISO time from which the requirement counts as unknown. */
  readonly validUntil?: string;
}

export interface KnowledgeQuestion {
  /** `question_` and the id of the requirement. */
  readonly id: string;
  readonly question: string;
  readonly reason: string;
  readonly requirementId: string;
  readonly importance: KnowledgeImportance;
  readonly answerType: 'credential' | 'free_text';
  readonly impactIfUnknown: string;
}

export interface AcquisitionPlan {
  /** `acquire_` and the mode. */
  readonly id: string;
  readonly requirementIds: readonly string[];
  readonly mode: AcquisitionMode;
  readonly description: string;
  readonly priority: KnowledgeImportance;
  readonly questions?: readonly KnowledgeQuestion[];
}

export type RecommendedAction =
  | 'ask_user'
  | 'query_connectors'
  | 'inspect_repo'
  | 'collect_web_data'
  | 'abort_or_rescope'
  | 'build_domain_wiki'
  | 'continue_with_caveat'
  | 'run_agent';

export interface KnowledgeReport {
  /** 0 to 1, three decimals; 1 if nothing is required. */
  readonly readinessScore: number;
  readonly blockingMissing: readonly string[];
  readonly nonBlockingMissing: readonly string[];
  readonly severity: 'critical' | 'warning' | 'info';
  readonly recommendedAction: RecommendedAction;
  readonly requirements: readonly KnowledgeRequirement[];
}

export interface ReadinessDecision {
  readonly kind: 'ready' | 'blocked' | 'caveat';
  readonly score: number;
  readonly reason: string;
  /** Ids of requirements. */
  readonly gaps: readonly string[];
}

export const MINIMUM_READINESS = 0.7;

const WEIGHTS = { blocking: 8, high: 4, medium: 2, low: 1 } as const;

function isExpired({ validUntil }: KnowledgeRequirement, now: number): boolean {
  return validUntil !== undefined && Date.parse(validUntil) <= now;
}

function knownShare(requirement: KnowledgeRequirement, now: number): number {
  const { confidenceNeeded: needed, currentConfidence: current } = requirement;
  if (isExpired(requirement, now)) return 0;
  return needed <= 0 ? 1 : Math.min(1, current / needed);
}

/** True if a gap in this requirement blocks. */
function isBlocking({ importance, fallbackPolicy, sensitivity }: KnowledgeRequirement): boolean {
  return importance === 'blocking' || fallbackPolicy === 'block' || sensitivity === 'secret';
}

/**
 * Reports what is known of the requirements at a time, in milliseconds since 1970.
 * @example
 * ```ts
 * const missing = (agent: ManifestDefinition) => reportKnowledge(agent.knowledge, Date.now()).blockingMissing;
 * ```
 */
export function reportKnowledge(requirements: readonly KnowledgeRequirement[], now: number): KnowledgeReport {
  const total = requirements.reduce((sum, { importance }) => sum + WEIGHTS[importance], 0);
  const reached = requirements.reduce(
    (sum, each) => sum + WEIGHTS[each.importance] * knownShare(each, now),
    0,
  );
  const missing = requirements.filter((each) => knownShare(each, now) < 1);
  const blocking = missing.filter(isBlocking);
  const others = missing.filter((each) => !isBlocking(each));
  const isWarning = others.some(({ importance }) => importance === 'high');
  return {
    readinessScore: total === 0 ? 1 : roundScore(reached / total),
    blockingMissing: blocking.map(({ id }) => id),
    nonBlockingMissing: others.map(({ id }) => id),
    severity: blocking.length > 0 ? 'critical' : isWarning ? 'warning' : 'info',
    recommendedAction: recommendAction(missing),
    requirements,
  };
}

/** The action recommended for a missing requirement, by its mode; the first match wins. */
const ACTIONS_BY_MODE: readonly (readonly [AcquisitionMode, RecommendedAction])[] = [
  ['ask_user', 'ask_user'],
  ['query_connector', 'query_connectors'],
  ['inspect_repo', 'inspect_repo'],
  ['run_command', 'inspect_repo'],
  ['search_web', 'collect_web_data'],
  ['not_available', 'abort_or_rescope'],
];

function recommendAction(missing: readonly KnowledgeRequirement[]): RecommendedAction {
  if (missing.length === 0) return 'run_agent';
  const found = ACTIONS_BY_MODE.find(([mode]) => missing.some((each) => each.acquisitionMode === mode));
  return found?.[1] ?? 'continue_with_caveat';
}

/** A low score is a caveat. `minimumScore` is from 0 to 1. */
export function decideReadiness(
  { readinessScore: score, blockingMissing, nonBlockingMissing }: KnowledgeReport,
  minimumScore = MINIMUM_READINESS,
): ReadinessDecision {
  if (blockingMissing.length > 0) {
    const reason = `knowledge readiness blocked: ${blockingMissing.join(', ')}`;
    return { kind: 'blocked', score, reason, gaps: blockingMissing };
  }
  if (score < minimumScore) {
    const reason = `knowledge readiness ${score} is below ${minimumScore}`;
    return { kind: 'caveat', score, reason, gaps: nonBlockingMissing };
  }
  return { kind: 'ready', score, reason: 'knowledge is ready', gaps: nonBlockingMissing };
}

/** The questions for people, in the order of the requirements. */
export function toQuestions({ requirements, ...report }: KnowledgeReport): readonly KnowledgeQuestion[] {
  const missing = new Set([...report.blockingMissing, ...report.nonBlockingMissing]);
  return requirements
    .filter((each) => missing.has(each.id) && isAsked(each))
    .map(({ id, description, importance, sensitivity, requiredFor }) => ({
      id: `question_${id}`,
      question: description,
      reason: requiredFor.length > 0 ? `needed for ${requiredFor.join(', ')}` : 'needed before the task runs',
      requirementId: id,
      importance,
      answerType: sensitivity === 'secret' ? 'credential' : 'free_text',
      impactIfUnknown: importance === 'blocking' ? 'the task cannot run' : 'the task runs with a caveat',
    }));
}

function isAsked({ acquisitionMode, fallbackPolicy }: KnowledgeRequirement): boolean {
  return acquisitionMode === 'ask_user' || fallbackPolicy === 'ask';
}

/** One plan for each mode by which missing knowledge can be acquired. */
export function toPlans(report: KnowledgeReport): readonly AcquisitionPlan[] {
  const missing = new Set([...report.blockingMissing, ...report.nonBlockingMissing]);
  const questions = toQuestions(report);
  return ACQUISITION_MODES.flatMap((mode) => {
    const wanted = report.requirements.filter(
      (each) => missing.has(each.id) && each.acquisitionMode === mode,
    );
    if (wanted.length === 0 || mode === 'infer_low_confidence' || mode === 'not_available') return [];
    const ids = wanted.map(({ id }) => id);
    const asked = questions.filter(({ requirementId }) => ids.includes(requirementId));
    return [
      {
        id: `acquire_${mode}`,
        requirementIds: ids,
        mode,
        description: `${mode}: ${ids.join(', ')}`,
        priority: IMPORTANCES.find((level) => wanted.some((each) => each.importance === level)) ?? 'low',
        ...(mode === 'ask_user' ? { questions: asked } : {}),
      },
    ];
  });
}

/** Marks answered requirements as known, with the answer as their evidence. */
export function withAnswers(
  requirements: readonly KnowledgeRequirement[],
  answers: Readonly<Record<string, unknown>>,
): readonly KnowledgeRequirement[] {
  return requirements.map((each) => {
    const answer = answers[each.id];
    if (answer === undefined || answer === null) return each;
    const { validUntil: _, ...kept } = each;
    return {
      ...kept,
      currentConfidence: Math.max(1, each.confidenceNeeded),
      evidenceIds: [...new Set([...each.evidenceIds, `answer_${each.id}`])],
    };
  });
}

function roundScore(score: number): number {
  return Math.round(score * 1000) / 1000;
}
