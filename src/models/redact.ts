/**
 * Removes API keys from texts of providers, which echo what they are sent: known keys in every form that
 * `core/redaction` finds, others by their usual patterns.
 */
import { buildRedactor } from '../core/redaction/redactor.ts';

/**
 * Each pattern is anchored so that no match can begin inside another possible one: otherwise crafted text would be
 * rescanned from each position.
 */
const KEY_FORMS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|hf|r8)[-_][\w*.-]{7,}[\w*]/g,
  /\bAIza[\w-]{20,}/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+\w/g,
  /(?<=\b(?:bearer|basic)\s{1,10})[\w.~+/=*-]{8,}/gi,
  /(?<=\b(?:authorization|x-api-key|api-key|x-goog-api-key)["']?\s{0,10}[:=]\s{0,10}["']?)(?!(?:bearer|basic)\s)[^\s"',;]{8,}/gi,
  /(?<=[?&](?:api[-_]?key|key|token)=)[^&\s"']+/gi,
];

const MARK = '[redacted]';
/** Shorter texts would match ordinary words. */
const SHORTEST_SECRET = 6;

export function redactKeys(text: string, secrets: readonly string[] = []): string {
  const known = [...new Set(secrets)].filter(({ length }) => length >= SHORTEST_SECRET);
  const rest =
    known.length === 0 ? text : buildRedactor(known.map((value) => ({ value, mark: MARK }))).redact(text);
  return KEY_FORMS.reduce((left, form) => left.replace(form, MARK), rest);
}

const SECRET_NAME = /auth|key|token|secret|cookie|password|credential/i;

export interface Credentials {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly baseUrl?: string | undefined;
}

/** The secrets of a request: the key, headers whose names suggest a secret, and credentials in the address. */
export function listCredentials({ apiKey, headers = {}, baseUrl }: Credentials): string[] {
  const secretHeaders = Object.entries(headers).filter(([name]) => SECRET_NAME.test(name));
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...secretHeaders.flatMap(([, value]) => partsOf(value)),
    ...(baseUrl === undefined ? [] : listUrlSecrets(baseUrl)),
  ];
}

/** For `Basic …` the password alone as well: a server may echo it without the rest. */
function partsOf(value: string): string[] {
  const [scheme = '', rest = ''] = value.split(/\s+(.*)/s);
  const decoded = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : '';
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return [value, rest, decoded, password];
}

function listUrlSecrets(address: string): string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const secretParameters = [...url.searchParams]
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value]) => value);
  return [decode(url.password), ...secretParameters];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const KEY_VARIABLE = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i;
/** Shorter values are ignored: a setting such as `true` may be named like a key. */
const SHORTEST_VARIABLE = 12;

/** Keys that providers read for themselves, such as ANTHROPIC_API_KEY: variables of this process that are named like keys. */
export function listEnvironmentKeys(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    KEY_VARIABLE.test(name) && value !== undefined && value.length >= SHORTEST_VARIABLE ? [value] : [],
  );
}
