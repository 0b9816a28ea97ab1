/**
 * Masks secrets in reports, by the names of fields and by texts that are known to be secret. Works on JSON values
 * before they are written, at every depth, and does not modify its input.
 */
import { RuntimeError } from '../../core/value/error.ts';

const KEYS = [
  'api_key',
  'apikey',
  'authorization',
  'client_secret',
  'credentials',
  'data_base64',
  'password',
  'secret',
  'token',
] as const;
const ENDINGS = ['_api_key', '_secret', '_token', '_password', '_credentials'] as const;

export interface RedactionOptions {
  /**
   * Names of fields whose values are masked, in addition to the built-in ones (`api_key`, `token`, `x_secret` …). Case
   * is ignored, and `-` equals `_`.
   */
  readonly sensitiveKeys?: readonly string[];
  /** `[REDACTED]` unless given. */
  readonly replacement?: string;
  /** Longer texts are cut, and end in `...`. */
  readonly maxStringLength?: number;
  /** Texts that are masked wherever they occur, names of fields included. */
  readonly sensitiveValues?: readonly string[];
}

const normalizeKey = (key: string) => key.toLowerCase().replaceAll('-', '_');

/**
 * Rules for masking a report. The constructor throws `InvalidValue` for a negative length, and for a blank text in
 * `sensitiveValues`, which would mask everything.
 * @example
 * ```ts
 * const redaction = new RedactionPolicy({ sensitiveKeys: ['iban'], sensitiveValues: ['hunter2'] });
 * const report = await client.runs.report('execution-1', { redaction });
 * ```
 */
export class RedactionPolicy {
  readonly replacement: string;
  readonly #keys: ReadonlySet<string>;
  readonly #values: readonly string[];
  readonly #maxLength: number;

  constructor(options: RedactionOptions = {}) {
    const { sensitiveKeys = [], replacement = '[REDACTED]', sensitiveValues = [] } = options;
    const { maxStringLength = Number.POSITIVE_INFINITY } = options;
    if (!(maxStringLength >= 0))
      throw new RuntimeError('InvalidValue', '"maxStringLength" must be a number of 0 or more.');
    if (sensitiveValues.some((value) => value.trim() === ''))
      throw new RuntimeError(
        'InvalidValue',
        '"sensitiveValues" contains a blank string, which would mask everything.',
      );
    this.replacement = replacement;
    this.#keys = new Set([...KEYS, ...sensitiveKeys.map(normalizeKey)]);
    // Longest first, because one text may be a part of another.
    this.#values = sensitiveValues.toSorted((a, b) => b.length - a.length);
    this.#maxLength = maxStringLength;
  }

  isSensitive(key: string): boolean {
    const name = normalizeKey(key);
    return this.#keys.has(name) || ENDINGS.some((ending) => name.endsWith(ending));
  }

  redact<T>(value: T): T {
    return this.#redactValue(value) as T;
  }

  #redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.#redactText(value);
    if (Array.isArray(value)) return value.map((member) => this.#redactValue(member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.#maskValues(key),
        // An absent value is not replaced.
        this.isSensitive(key) && member !== null && member !== undefined
          ? this.replacement
          : this.#redactValue(member),
      ]),
    );
  }

  #maskValues(text: string): string {
    return this.#values.reduce((left, value) => left.replaceAll(value, () => this.replacement), text);
  }

  #redactText(text: string): string {
    const masked = this.#maskValues(text);
    return masked.length <= this.#maxLength ? masked : `${masked.slice(0, this.#maxLength)}...`;
  }
}
