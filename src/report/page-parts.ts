import { readFileSync } from 'node:fs';

// Built, wherever this module itself runs from.
const built = new URL('../../dist/report/page/', import.meta.url);

const textOf = (name: string): string => readFileSync(new URL(name, built), 'utf8');

/** The page's script with all it needs, ECharts included, as one text without imports. */
export const pageScript = (): string => textOf('report.js');

export const pageStyle = (): string => textOf('report.css') + textOf('print.css');
