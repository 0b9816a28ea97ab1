/** Reads metrics as a Prometheus server does, with a third-party parser of its text format. */
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
  /** Value of the first series that has these labels; undefined if there is none. */
  value(name: string, labels: Readonly<Record<string, string>>): number | undefined;
  /**
   * Number of observations of a histogram, for its last combination of labels: the parser omits labels of histograms.
   */
  count(name: string): number | undefined;
  readonly families: readonly Family[];
}

/** Reads the metrics; throws if the answer is not in Prometheus's text format. */
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
