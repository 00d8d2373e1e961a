/** How the sanitizers write a frame, for `countedOf`: the module last, also where the line of the source is known. */
export const frameFormat = '    #%n %p %F %L <%m>';

const frame = /^ {4}#\d+ .* <(.*)>$/;
const isAllocator = (module) => /\/lib(asan|ubsan)\.so/.test(module);
const isNode = (line, module) => /\/node$/.test(module) || / in (node|v8)::/.test(line);

/**
 * What counts of a report. Of LeakSanitizer's, the blocks that the addon allocated, itself or by what it called: its
 * module is between the allocation and the first frame of Node's. Node ends without freeing its isolates, handles and
 * compiled code, because the kernel is quicker. Of any other report, everything.
 */
export function countedOf(report, addon) {
  if (!report.includes('ERROR: LeakSanitizer') || report.includes('ERROR: AddressSanitizer'))
    return report;
  return report
    .split('\n\n')
    .filter((block) => /^(Direct|Indirect) leak of /m.test(block) && isOf(block, addon))
    .join('\n\n');
}

function isOf(block, addon) {
  for (const line of block.split('\n')) {
    const module = frame.exec(line)?.[1];
    if (module === undefined || isAllocator(module)) continue;
    if (module === addon) return true;
    if (isNode(line, module)) return false;
  }
  return false;
}
