/** Reads metrics as a server of Prometheus does, with a parser of its text format that is not ours. */
import { createRequire } from 'node:module';

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value?: string;
  readonly buckets?: Readonly<Record<string, string>>;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly Sample[];
}

const parse: (text: string) => Family[] = createRequire(import.meta.url)('parse-prometheus-text-format');

export interface Scraped {
  /** Undefined where there is no such series; the first one whose labels have these. */
  value(name: string, labels: Readonly<Record<string, string>>): number | undefined;
  /** How often a histogram has observed anything, for the last value of its labels: the parser leaves those of histograms out. */
  count(name: string): number | undefined;
  readonly families: readonly Family[];
}

/** Fails where the answer is no text of Prometheus. */
export async function scrape(url: string): Promise<Scraped> {
  const response = await fetch(`${url}/metrics`);
  const type = response.headers.get('content-type') ?? '';
  if (response.status !== 200 || !type.startsWith('text/plain; version=0.0.4'))
    throw new Error(`No metrics: ${response.status} ${type}`);
  return readScraped(await response.text());
}

export function readScraped(text: string): Scraped {
  const families = parse(text);
  const find = (name: string, labels: Readonly<Record<string, string>>) =>
    families
      .find((family) => family.name === name)
      ?.metrics.find((sample) =>
        Object.entries(labels).every(([key, value]) => sample.labels?.[key] === value),
      );
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  return {
    families,
    value: (name, labels) => toNumber(find(name, labels)?.value),
    count: (name) =>
      toNumber(families.find((family) => family.name === name)?.metrics.at(-1)?.buckets?.['+Inf']),
  };
}
