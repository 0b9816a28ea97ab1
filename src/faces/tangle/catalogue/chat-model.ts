/** Chooses the model of a chat, in the caller's order, and validates it before anything is started with it. */

import { errorMessage } from '../../../core/value/thrown.ts';
import { type FetchModels, getModels, type RouterModel, resolveRouterBaseUrl } from './router-models.ts';

export interface ModelCandidate<Source extends string = string> {
  /** Where the choice comes from: `request`, `workspace`, `env`, or any other name that the caller gives. */
  readonly source: Source;
  readonly model?: string | null | undefined;
}

export interface ChatModel<Source extends string = string> {
  readonly source: Source;
  readonly model: string;
}

/**
 * Removes white space around a model id. Undefined if it is blank or not a string.
 * @example
 * ```ts
 * const model = cleanModelId(' openai/gpt-4.1 '); // openai/gpt-4.1
 * ```
 */
export function cleanModelId(model: unknown): string | undefined {
  const clean = typeof model === 'string' ? model.trim() : '';
  return clean === '' ? undefined : clean;
}

/**
 * Returns the first candidate that names a model, in the caller's order, else `fallback`.
 * @example
 * ```ts
 * const { source, model } = resolveChatModel(
 *   [{ source: 'request', model: ' ' }, { source: 'env', model: 'openai/gpt-4.1' }],
 *   { source: 'default', model: 'openai/gpt-4.1-mini' },
 * ); // env
 * ```
 */
export function resolveChatModel<Source extends string, Fallback>(
  candidates: readonly ModelCandidate<Source>[],
  fallback: Fallback,
): ChatModel<Source> | Fallback {
  for (const { source, model } of candidates) {
    const clean = cleanModelId(model);
    if (clean !== undefined) return { source, model: clean };
  }
  return fallback;
}

export interface ValidateModelOptions {
  /** Models that are accepted without the catalogue. */
  readonly allowlist?: readonly string[];
  /** Base URL of the router; the built-in one unless given. */
  readonly routerBaseUrl?: string;
  /** Used instead of `getModels`. */
  readonly loadModels?: (baseUrl: string) => Promise<readonly RouterModel[]>;
  readonly fetch?: FetchModels;
}

export type CheckedModel =
  | { readonly succeeded: true; readonly value: string }
  | { readonly succeeded: false; readonly error: string };

const MODEL_ID = /^[A-Za-z0-9._/@:-]{1,200}$/;

/**
 * Checks that a model may be used: it must be in `allowlist` or in the router's catalogue. Fails closed: if the
 * catalogue cannot be read, a model that is not in `allowlist` is refused. Never rejects.
 * @example
 * ```ts
 * const checked = await validateChatModelId('openai/gpt-4.1', { routerBaseUrl: 'http://127.0.0.1:8000' });
 * if (!checked.succeeded) console.log(checked.error);
 * ```
 */
export async function validateChatModelId(
  modelId: unknown,
  { allowlist = [], routerBaseUrl, loadModels, fetch }: ValidateModelOptions = {},
): Promise<CheckedModel> {
  const value = cleanModelId(modelId);
  if (value === undefined) return invalidModel('The model id is empty: pass one.');
  if (!MODEL_ID.test(value))
    return invalidModel(
      `"${value.slice(0, 60)}" is not a valid model id: use up to 200 letters, digits and . _ / @ : -.`,
    );
  if (allowlist.some((each) => cleanModelId(each) === value)) return { succeeded: true, value };
  const load = loadModels ?? ((base: string) => getModels(base, fetch ? { fetch } : {}));
  try {
    const base = resolveRouterBaseUrl(
      routerBaseUrl === undefined ? {} : { TANGLE_ROUTER_URL: routerBaseUrl },
    );
    const known = idsOf(await load(base));
    if (known.has(value)) return { succeeded: true, value };
    return invalidModel(
      `The model "${value}" is not available: the catalogue of ${base} does not contain it.`,
    );
  } catch (error) {
    return invalidModel(`The model "${value}" could not be validated: ${errorMessage(error)}`);
  }
}

function invalidModel(error: string): CheckedModel {
  return { succeeded: false, error };
}

/** A model id without a slash is also known as `<provider>/<id>`. */
function idsOf(models: readonly RouterModel[]): ReadonlySet<string> {
  return new Set(
    models.flatMap(({ id, _provider, provider }) => {
      const who = cleanModelId(_provider) ?? cleanModelId(provider);
      return who === undefined || id.includes('/') ? [id] : [id, `${who}/${id}`];
    }),
  );
}

/**
 * Returns the models for a picker: the caller's own before those of the catalogue, each once.
 * @example
 * ```ts
 * const shown = withConfiguredModels([{ id: 'openai/gpt-4.1' }], ['house/own']); // house/own, openai/gpt-4.1
 * ```
 */
export function withConfiguredModels(
  models: readonly RouterModel[],
  configured: readonly (string | null | undefined)[],
): readonly RouterModel[] {
  const own = [...new Set(configured.flatMap((each) => cleanModelId(each) ?? []))];
  return [...own.map((id) => ({ id })), ...models.filter(({ id }) => !own.includes(id))];
}
