/**
 * The settings of Temporal servers that we start. The values are in `temporal/`, which self-hosted clusters use too;
 * this file only reads them. The SQLite pragmas are here because no cluster has them.
 */
import { readFileSync } from 'node:fs';
import { packagePath } from './package-root.ts';

export type DynamicConfig = Record<string, unknown>;
export type SearchAttributeType = 'Keyword' | 'KeywordList' | 'Text' | 'Int' | 'Double' | 'Bool' | 'Datetime';

/** The oldest server that Everthread works with. */
export const MINIMUM_SERVER_VERSION = '1.29.0';

/** A step takes 28 ms on a database file with SQLite's defaults, 17 ms with these; a crash of the machine may lose the last writes. */
export const SQLITE_PRAGMAS = { journal_mode: 'wal', synchronous: '1' } as const;

export function readDynamicConfig(): DynamicConfig {
  return parseDynamicConfig(readFileSync(packagePath('temporal', 'dynamic-config.yaml'), 'utf8'));
}

export function readSearchAttributes(): Record<string, SearchAttributeType> {
  return JSON.parse(readFileSync(packagePath('temporal', 'search-attributes.json'), 'utf8'));
}

/**
 * Reads the one form that our file uses (`key:` and, below it, `- value: JSON`), and rejects any other line: a
 * constraint that only a cluster understood would silently make the local server differ.
 */
export function parseDynamicConfig(text: string): DynamicConfig {
  const config: DynamicConfig = {};
  let key: string | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const name = /^([\w.]+):\s*$/.exec(line)?.[1];
    const value = /^\s+- value: (.+)$/.exec(line)?.[1];
    if (name !== undefined) key = name;
    else if (value !== undefined && key !== undefined && !(key in config)) config[key] = JSON.parse(value);
    else
      throw new Error(
        `dynamic-config.yaml, line ${index + 1}: expected "key:" or "- value: JSON", found "${line}".`,
      );
  }
  return config;
}
