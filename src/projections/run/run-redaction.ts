/**
 * Takes out of reports what must not be kept with them: by the names of fields, and by texts that are known to be secret. It works on
 * JSON before it is written, at every depth, and changes nothing of what it is given.
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
  /** Names of fields whose values are masked, beside those known (`api_key`, `token`, `x_secret` …); case and `-` or `_` do not matter. */
  readonly sensitiveKeys?: readonly string[];
  /** `[REDACTED]` unless given. */
  readonly replacement?: string;
  /** Longer texts are cut, and end in `...`. */
  readonly maxStringLength?: number;
  /** Texts that are masked wherever they stand. */
  readonly sensitiveValues?: readonly string[];
}

const normal = (key: string) => key.toLowerCase().replaceAll('-', '_');

/**
 * What is masked in a report. Throws `InvalidValue` for a negative length and for a blank value, which would mask everything.
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
      throw new RuntimeError('InvalidValue', '"maxStringLength" must be a number from 0.');
    if (sensitiveValues.some((value) => value.trim() === ''))
      throw new RuntimeError(
        'InvalidValue',
        '"sensitiveValues" has a blank text, which would mask everything.',
      );
    this.replacement = replacement;
    this.#keys = new Set([...KEYS, ...sensitiveKeys.map(normal)]);
    // The longest first: what one hides may be a part of another.
    this.#values = sensitiveValues.toSorted((a, b) => b.length - a.length);
    this.#maxLength = maxStringLength;
  }

  isSensitive(key: string): boolean {
    const name = normal(key);
    return this.#keys.has(name) || ENDINGS.some((ending) => name.endsWith(ending));
  }

  redact<T>(value: T): T {
    return this.#copy(value) as T;
  }

  #copy(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((member) => this.#copy(member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.#masked(key),
        // What is absent is no secret.
        this.isSensitive(key) && member !== null && member !== undefined
          ? this.replacement
          : this.#copy(member),
      ]),
    );
  }

  #masked(text: string): string {
    return this.#values.reduce((left, value) => left.replaceAll(value, () => this.replacement), text);
  }

  #text(text: string): string {
    const masked = this.#masked(text);
    return masked.length <= this.#maxLength ? masked : `${masked.slice(0, this.#maxLength)}...`;
  }
}
