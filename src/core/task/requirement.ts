/** Checks a requirement of knowledge and applies its defaults. Hand-written: it runs inside the workflow. */
import { isRecord } from '../value/record.ts';
import { ACQUISITION_MODES, FALLBACKS, IMPORTANCES, type KnowledgeRequirement } from './knowledge.ts';

const ID_CHARS = 120;

/** Returns the requirement, or what is wrong with it. */
export function parseRequirement(given: unknown): KnowledgeRequirement | string {
  if (!isRecord(given)) return 'must be an object';
  const read = { ...DEFAULTS, ...Object.fromEntries(Object.entries(given).filter(([, v]) => v != null)) };
  const { id, description, category, freshness, sensitivity, validUntil } = read as Record<string, unknown>;
  if (typeof id !== 'string' || id === '' || id.length > ID_CHARS)
    return `"id" must be a string of 1 to ${ID_CHARS} characters`;
  if (typeof description !== 'string' || description === '')
    return '"description" must be a string that describes what is needed';
  for (const [name, value] of Object.entries({ category, freshness, sensitivity }))
    if (typeof value !== 'string') return `"${name}" must be a string`;
  const choices = { acquisitionMode: ACQUISITION_MODES, importance: IMPORTANCES, fallbackPolicy: FALLBACKS };
  for (const [name, among] of Object.entries(choices))
    if (!(among as readonly unknown[]).includes(read[name as keyof typeof choices]))
      return `"${name}" must be one of ${among.join(', ')}`;
  for (const name of ['confidenceNeeded', 'currentConfidence'] as const)
    if (!(typeof read[name] === 'number' && read[name] >= 0 && read[name] <= 1))
      return `"${name}" must be a number from 0 to 1`;
  for (const name of ['requiredFor', 'evidenceIds'] as const)
    if (!Array.isArray(read[name]) || (read[name] as unknown[]).some((each) => typeof each !== 'string'))
      return `"${name}" must be an array of strings`;
  if (validUntil !== undefined && !(typeof validUntil === 'string' && !Number.isNaN(Date.parse(validUntil))))
    return '"validUntil" must be an ISO time';
  return read as unknown as KnowledgeRequirement;
}

const DEFAULTS = {
  requiredFor: [] as readonly string[],
  category: 'general',
  acquisitionMode: 'ask_user',
  importance: 'medium',
  freshness: 'static',
  sensitivity: 'public',
  confidenceNeeded: 1,
  currentConfidence: 0,
  evidenceIds: [] as readonly string[],
  fallbackPolicy: 'ask',
} as const;
