#pragma once

#include "runtime/device/ceilings.hpp"
